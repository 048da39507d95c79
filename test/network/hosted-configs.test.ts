// Terminators of hosted services: several of one service, strategies, and the older config type.

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import t from 'tap';
import { linksOf } from '../support/networks/faulty-paths.ts';
import { Overlay } from '../support/networks/overlay.ts';
import { until } from '../support/until.ts';

/** A service that answers each connection with its name. */
async function named(name: string): Promise<{ server: Server; port: number }> {
  const server = createServer((socket) => socket.on('error', () => undefined).end(name));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return { server, port: (server.address() as AddressInfo).port };
}

async function answerAt(port: number): Promise<string> {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  let text = '';
  socket.on('data', (data) => {
    text += data;
  });
  await new Promise((resolve) => socket.once('close', resolve));
  return text;
}

t.test('host.v2 has a terminator for each target, and circuits fail over to the next one', async (t) => {
  await using overlay = await Overlay.start({ churnLimit: 0 });
  const a = await overlay.addRouter({ name: 'a', mode: 'proxy' });
  const b = await overlay.addRouter({ name: 'b', mode: 'host' });
  const [first, second] = [await named('first'), await named('second')];
  t.teardown(() => second.server.close());
  const target = (port: number, listenOptions: object) => ({
    protocol: 'tcp',
    address: '127.0.0.1',
    port,
    listenOptions,
  });
  const terminators = [
    target(first.port, { cost: 1, precedence: 'required' }),
    target(second.port, { cost: 5, precedence: 'required' }),
    target(second.port, { cost: 6, identity: '$tunneler_id.name/1' }),
    target(second.port, { cost: 7, precedence: 'failed', bindUsingEdgeIdentity: true }),
  ];
  await overlay.addService('echo', b.id, { configs: { 'host.v2': { terminators } } });
  const listed = async () =>
    (await overlay.management.terminators.list())
      .map(({ cost, precedence, identity }) => `${cost} ${precedence} ${identity}`)
      .sort();
  await until('all terminators', async () => (await listed()).length === 4);
  t.same(
    await listed(),
    ['1 required ', '5 required ', '6 default b/1', '7 failed b'],
    'host.v1 has no effect beside it',
  );
  await overlay.ready();
  t.equal(await answerAt(a.proxyPort), 'first', 'the cheaper one');
  await new Promise((resolve) => first.server.close(resolve));
  t.equal(await answerAt(a.proxyPort), 'second', 'the other one, in the same circuit');
});

t.test('the strategy of a service distributes its circuits over its terminators', async (t) => {
  await using overlay = await Overlay.start({ churnLimit: 0 });
  const extra = { metrics: { reportInterval: '300ms' } };
  const a = await overlay.addRouter({ name: 'a', mode: 'proxy', extra });
  const b = await overlay.addRouter({ name: 'b', mode: 'host', extra });
  const targets = { cheap: await named('cheap'), dear: await named('dear') };
  for (const { server } of Object.values(targets)) t.teardown(() => server.close());
  const target = (port: number, cost: number) => ({
    protocol: 'tcp',
    address: '127.0.0.1',
    port,
    listenOptions: { cost },
  });
  const terminators = [target(targets.cheap.port, 1_000), target(targets.dear.port, 5_000)];
  const service = await overlay.addService('echo', b.id, { configs: { 'host.v2': { terminators } } });
  await until('both', async () => (await overlay.management.terminators.list()).length === 2);
  await overlay.ready();
  // The cost of a link counts, and is high until its latency is known.
  const costs = async () => (await linksOf(overlay)).map(({ cost }) => cost);
  await until('the latency of the link', async () => (await costs()).every((cost) => cost < 100));
  const distribution = async (terminatorStrategy: string) => {
    await overlay.management.services.patch(service, { terminatorStrategy });
    const answers = await Promise.all(Array.from({ length: 100 }, () => answerAt(a.proxyPort)));
    return {
      cheap: answers.filter((each) => each === 'cheap').length,
      dear: answers.filter((each) => each === 'dear').length,
    };
  };
  t.same(await distribution('smartrouting'), { cheap: 100, dear: 0 });
  const weighted = await distribution('weighted');
  t.ok(weighted.cheap > 55 && weighted.dear > 0, JSON.stringify(weighted));
  const random = await distribution('random');
  t.ok(random.cheap > 25 && random.dear > 25, JSON.stringify(random));
});

t.test('ziti-tunneler-server.v1 hosts a service', async (t) => {
  await using overlay = await Overlay.start({ churnLimit: 0 });
  const a = await overlay.addRouter({ name: 'a', mode: 'proxy' });
  const b = await overlay.addRouter({ name: 'b', mode: 'host' });
  const { server, port } = await named('an older configuration');
  t.teardown(() => server.close());
  const serviceId = await overlay.addService('echo', b.id);
  const hostname = '127.0.0.1';
  const config = await overlay.addConfig('older', 'ziti-tunneler-server.v1', { hostname, port, protocol: 'tcp' });
  await overlay.management.services.patch(serviceId, { configs: [config] });
  await overlay.ready();
  await until('the older configuration', async () => (await answerAt(a.proxyPort)) === 'an older configuration');
  t.equal((await overlay.management.terminators.list()).length, 1);
});
