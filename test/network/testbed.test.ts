// Networks for tests, as programs use them: `startNetwork` of `edgeweave/sim`.

import { once } from 'node:events';
import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { Agent, request } from 'undici';
import type { LinkEntry } from '../../controller-sim/lab/journal/journal-entry.ts';
import { type Network, startNetwork } from '../../entry/sim.ts';
import { EchoServer } from '../../examples/two-routers/transfer.ts';
import { until } from '../support/until.ts';

interface IdentityFile {
  readonly ztAPI: string;
  readonly id: { readonly cert: string; readonly key: string; readonly ca: string };
}

/** Rejects if the service does not return the text. */
async function echoed(socket: Socket, text: string): Promise<string> {
  socket.setEncoding('utf8').end(text);
  let received = '';
  for await (const chunk of socket) received += chunk;
  return received;
}

/** The status of a login with the certificate of an identity file, and the name of who logged in. */
async function login(file: string): Promise<{ status: number; name?: string }> {
  const { ztAPI, id } = JSON.parse(readFileSync(file, 'utf8')) as IdentityFile;
  const pem = (text: string) => text.replace(/^pem:/, '');
  const agent = new Agent({ connect: { cert: pem(id.cert), key: pem(id.key), ca: pem(id.ca) } });
  const { statusCode, body } = await request(`${ztAPI}/authenticate?method=cert`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
    dispatcher: agent,
  });
  const { data } = (await body.json()) as { data?: { identity: { name: string } } };
  await agent.close();
  return { status: statusCode, ...(data && { name: data.identity.name }) };
}

/** Networks have their folders here, beside nobody else's. */
const temporary = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
process.env.TMPDIR = temporary;
t.teardown(() => rmSync(temporary, { recursive: true }));
const folders = () => readdirSync(temporary).filter((name) => name.startsWith('edgeweave-network-'));

const links = (network: Network) => network.routers.map(({ router }) => router.describe().links.length).join();

t.test('three routers with links, a service, a client without an SDK, an enrolled identity', async (t) => {
  using echo = await EchoServer.start();
  const network = await startNetwork({ routers: 3 });
  t.same(
    network.routers.map(({ name }) => name),
    ['a', 'b', 'c'],
  );
  t.equal(links(network), '2,2,2', 'each has a link to each other one');
  t.equal(network.router('b').name, 'b');
  t.throws(() => network.router('d'), /there is no router d; known are a, b, c/);

  const service = await network.service('echo', { host: 'b', port: echo.port });
  t.match(service, { name: 'echo', host: 'b', dial: { host: '127.0.0.1', port: Number } });
  t.equal(await echoed(await network.dial('echo'), 'over a link'), 'over a link');
  t.equal(await echoed(await network.dial('echo', { from: 'b' }), 'at its host'), 'at its host');
  t.equal(await echoed(await network.dial('echo', { from: 'c' }), 'from c'), 'from c');
  await t.rejects(network.dial('echo', { from: 'd' }), /there is no router d; known are a, b, c/);
  await t.rejects(network.service('echo', { host: 'b', port: echo.port }), /the service echo exists/);
  await t.rejects(network.service('other', { host: 'd', port: echo.port }), /no router d/);
  for (const port of [0, 1.5, 65_536])
    await t.rejects(network.service('other', { host: 'b', port }), /use a whole number from 1 to 65535/);

  const busy = await network.dial('echo');
  busy.resume();
  await until('the bytes a second of its circuit', () => {
    busy.write('again and again');
    return network.lab.network().circuits.some(({ rate = 0 }) => rate > 0);
  });
  busy.destroy();

  const file = await network.identity('anna', { roleAttributes: ['staff'] });
  t.equal(statSync(file).mode & 0o777, 0o600);
  t.same(await login(file), { status: 200, name: 'anna' });
  const indexes = () => network.routers.map(({ router }) => router.describe().dataModel?.index ?? 0);
  const latest = Math.max(...indexes());
  await network.identity('bert');
  t.ok(
    indexes().every((index) => index > latest),
    'the routers know a new identity at once',
  );
  const earlier = `${file}.earlier`;
  copyFileSync(file, earlier);
  await network.identity('anna');
  t.equal((await login(file)).status, 200);
  t.equal((await login(earlier)).status, 401, 'the earlier certificate is invalid');
  await t.rejects(network.identity('b'), /b is the identity of a router/);

  const { lab } = network;
  const messages = (filter: object = {}) => lab.journal.entries({ kind: 'link', ...filter }) as LinkEntry[];
  t.same(messages(), [], 'links are not recorded before');
  lab.recordLinks();
  t.equal(await echoed(await network.dial('echo', { from: 'a' }), 'recorded'), 'recorded');
  const [sent] = messages({ router: 'a', message: 'Payload' });
  t.match(sent, { router: { name: 'a' }, peer: { name: 'b' }, direction: 'out', content: { circuitId: /./ } });
  const received = messages({ router: 'b', message: 'Payload' });
  t.match(received[0], { direction: 'in', link: sent?.link, content: { circuitId: sent?.content?.circuitId } });
  t.match(await lab.journal.waitFor({ kind: 'link', message: 'Acknowledgement' }), {
    content: { sequences: [Number] },
  });
  t.notMatch(JSON.stringify(messages()), 'recorded', 'without the data of payloads');
  lab.recordLinks(false);
  t.notOk(lab.recordsLinks);

  const { router } = network.router('a');
  await t.rejects(router.openProxy('echo', { prt: 1 } as never), /unknown option prt; did you mean port\?/);
  await t.rejects(router.openProxy('echo', { port: 65_536 }), /whole number from 0 to 65535/);
  await t.rejects(router.close({ drian: 0 } as never), /unknown option drian; did you mean drain\?/);
  await t.rejects(router.close({ drain: -1 }), /number of milliseconds, at least 0/);
  t.match(router.describe(), { id: network.router('a').id, drain: { state: 'serving' } }, 'the router still runs');

  await network.close();
  await network.close();
  t.notOk(existsSync(file));
  t.same(folders(), [], 'no folder stays');
});

t.test('a reset and a restore return the network, and traffic flows again with the same routers', async (t) => {
  using echo = await EchoServer.start();
  await using network = await startNetwork({ routers: ['east', 'west'] });
  const { lab } = network;
  await network.service('echo', { host: 'west', port: echo.port });
  lab.snapshots.take('with-echo');
  lab.recordLinks();
  t.equal(lab.network().journal.links, true);
  await lab.clock.advance('2d');
  await lab.reset();
  t.equal(lab.network().journal.links, false);
  t.equal(lab.clock.advanced, 0);
  t.match(lab.network().totals, { routers: 2, links: 1 }, 'the routers belong to the start');
  t.equal(links(network), '1,1');

  const again = await network.service('echo', { host: 'east', port: echo.port });
  t.equal(again.host, 'east');
  t.equal(await echoed(await network.dial('echo'), 'after a reset'), 'after a reset');

  await lab.snapshots.restore('with-echo');
  t.equal(await echoed(await network.dial('echo', { from: 'east' }), 'restored'), 'restored');
});

t.test('a service of a name that existed a moment before can be dialed at once', async (t) => {
  using echo = await EchoServer.start();
  await using network = await startNetwork();
  const { lab } = network;
  for (const round of [1, 2, 3, 4]) {
    await network.service('echo', { host: 'b', port: echo.port });
    t.equal(await echoed(await network.dial('echo'), `round ${round}`), `round ${round}`);
    await lab.reset();
  }
  const base = lab.snapshots.take('base');
  for (const host of ['a', 'b', 'a']) {
    await network.service('echo', { host, port: echo.port });
    t.equal(await echoed(await network.dial('echo'), `hosted by ${host}`), `hosted by ${host}`);
    await base.restore();
  }
});

t.test('a dial succeeds right after a reset that ends a fault, and after a wait for the network', async (t) => {
  using echo = await EchoServer.start();
  await using network = await startNetwork({ routers: 3 });
  const { lab } = network;
  await network.service('echo', { host: 'b', port: echo.port });
  lab.snapshots.take('with-echo');
  const dialed = async (from: string) => echoed(await network.dial('echo', { from }), 'dialed');

  lab.faults.disconnect('a');
  await network.ready();
  t.equal(await dialed('a'), 'dialed', 'after the loss of its control channel');
  lab.faults.disconnect('a');
  lab.faults.disconnect('b');
  await lab.restore('with-echo');
  t.equal(await dialed('a'), 'dialed', 'the restore waits too');

  lab.faults.add({ kind: 'link', cut: true }).remove();
  await network.ready();
  t.equal(await dialed('c'), 'dialed', 'after a cut that has just ended');
  lab.faults.add({ kind: 'link', router: 'b', cut: true });
  await t.rejects(network.ready({ timeout: '300ms' }), {
    code: 'NOT_READY',
    message:
      /^the network is not ready after 300ms: no link joins a and b.*no router has reported a link.*f\d+ \(link\)$/,
  });
  await lab.restore('with-echo');
  t.equal(await dialed('a'), 'dialed');

  const stays = lab.faults.add({ kind: 'link', router: 'b', cut: true });
  await lab.reset({ keep: ['faults'] });
  t.match(lab.faults.list(), [{ id: stays.id }], 'a reset that keeps a fault does not wait for the link that it cuts');
  stays.remove();
  await network.router('c').router.close({ drain: 0 });
  await lab.reset();
  t.pass('nor for a router that the test has closed');
  await t.rejects(network.ready({ timeout: '51s' }), { code: 'INVALID', field: 'timeout' });
  await t.rejects(network.ready({ timout: 1 } as never), /timout is unknown; did you mean timeout\?/);
});

t.test('routers renew their certificates when the clock of the lab is moved, and stay in the network', async (t) => {
  using echo = await EchoServer.start();
  await using network = await startNetwork();
  const { lab, simulator } = network;
  await network.service('echo', { host: 'b', port: echo.port });
  const fingerprints = async () =>
    (await simulator.admin.edgeRouters.list()).map(({ fingerprint }) => String(fingerprint)).sort();
  let before = await fingerprints();
  await lab.clock.advance('335d');
  t.same(await fingerprints(), before, 'eleven months: not yet due');
  for (const time of ['25d', '400d', '2800d']) {
    await lab.clock.advance(time);
    const after = await fingerprints();
    t.equal(new Set([...before, ...after]).size, 4, `both are renewed after ${time}`);
    before = after;
    for (const name of ['a', 'b']) lab.faults.disconnect(name);
    lab.faults.add({ kind: 'link', cut: true }).remove();
    await network.ready();
    t.equal(await echoed(await network.dial('echo'), time), time);
  }
  await lab.clock.set('2020-02-29T12:00:00Z');
  lab.faults.disconnect('a');
  await lab.reset();
  t.equal(lab.clock.advanced, 0);
  await network.ready();
});

t.test('many networks at the same time do not disturb each other', async (t) => {
  using echo = await EchoServer.start();
  const networks = await Promise.all([1, 2, 3, 4].map(() => startNetwork({ routers: 2 })));
  const texts = await Promise.all(
    networks.map(async (network, index) => {
      await network.service('echo', { host: 'b', port: echo.port });
      return echoed(await network.dial('echo'), `network ${index}`);
    }),
  );
  t.same(texts, ['network 0', 'network 1', 'network 2', 'network 3']);
  await Promise.all(networks.map((network) => network.close()));
});

t.test('a closed network ends the connections of its clients', async (t) => {
  using echo = await EchoServer.start();
  const network = await startNetwork();
  await network.service('echo', { host: 'b', port: echo.port });
  const socket = await network.dial('echo');
  socket.on('error', () => undefined);
  socket.write('open');
  await once(socket, 'data');
  const closed = new Promise((resolve) => socket.once('close', resolve));
  await network.close();
  await closed;
  t.pass();
});

t.test('a network that cannot start leaves nothing behind', async (t) => {
  await t.rejects(startNetwork({ seed: { edgeRouters: [{ name: 'a' }] }, routers: ['a'], host: '192.0.2.1' }), {
    name: 'ListenError',
  });
  t.same(folders(), []);
});
