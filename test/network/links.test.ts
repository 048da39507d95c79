// Links between our routers: simultaneous dials, lost connections of a group, and circuits that move when links and
// routers fail.

import { connect } from 'node:net';
import t from 'tap';
import { transfer } from '../../examples/two-routers/transfer.ts';
import { dialing, type linkDialer, linkListener, listening } from '../support/config/link-config.ts';
import { FaultyPort } from '../support/hostile/faulty-port.ts';
import { longTransfer, pathOf, linksOf as reportedLinks } from '../support/networks/faulty-paths.ts';
import { Overlay, proxyNetwork, type TestRouter } from '../support/networks/overlay.ts';
import { until } from '../support/until.ts';

const KIB = 1024;

function linksOf({ router }: TestRouter) {
  return router.describe().links;
}

t.test('routers that dial each other at once agree on one link', { timeout: 60_000 }, async (t) => {
  const { overlay, a, b } = await proxyNetwork();
  await using _ = overlay;
  const reported = () => reportedLinks(overlay);
  const agreed = async () => {
    const views = [linksOf(a), linksOf(b), await reported()];
    const [first] = linksOf(a);
    return views.every(
      (links) => links.length === 1 && links[0]?.id === first?.id && links[0]?.iteration === first?.iteration,
    );
  };
  for (let start = 0; start < 4; start++) {
    for (let round = 0; round < 8; round++) {
      await until('one link', agreed).catch(async (error) =>
        t.fail(error.message, { a: linksOf(a), b: linksOf(b), reported: await reported() }),
      );
      t.equal((await transfer(a.proxyPort, KIB)).bytes, KIB);
      const [link] = linksOf(a);
      await overlay.management.fabric.links.delete(link?.id ?? '');
      await until(
        'that link to close',
        () => !linksOf(a).some(({ id, iteration }) => id === link?.id && iteration === link.iteration),
      );
    }
    // New ids, so that the other side wins.
    await b.router.close({ drain: 0 });
    b.router = await overlay.startRouter(b.configFile);
    await until('a terminator', async () => (await overlay.management.terminators.list()).length > 0);
  }
});

/** Router a dials b through a faulty port. */
async function throughFaultyPort(dialer: Parameters<typeof linkDialer>[0]) {
  const overlay = await Overlay.start({ churnLimit: 0 });
  const between = await FaultyPort.start();
  const b = await overlay.addRouter({
    name: 'b',
    mode: 'host',
    link: listening(0, { advertise: `tls:127.0.0.1:${between.port}` }),
  });
  between.target = b.linkPort;
  const a = await overlay.addRouter({
    name: 'a',
    mode: 'proxy',
    link: dialing({ startupDelay: '50ms', ...dialer }),
  });
  await overlay.addService('echo', b.id);
  await overlay.ready();
  const close = async () => {
    await overlay.close();
    between.close();
  };
  return { overlay, a, b, between, [Symbol.asyncDispose]: close };
}

t.test('a group that loses connections keeps its link and every byte', { timeout: 60_000 }, async (t) => {
  await using network = await throughFaultyPort({ maxDefaultConnections: 5, maxAckConnections: 1 });
  const { a, b, between } = network;
  await until('all connections', () => between.open === 6);
  const before = linksOf(a);
  const outcome = await longTransfer({
    port: a.proxyPort,
    mebibytes: 64,
    every: 14, // four times: one connection each for payloads and acknowledgements remains
    fault: async () => {
      const { open } = between;
      between.cut();
      await until('the connection to close', () => between.open < open);
    },
  });
  t.match(outcome, { bytes: 64 * 1024 * 1024, isEqual: true });
  t.ok(outcome.faults >= 4, `${outcome.faults} faults`);
  const ids = (router: TestRouter) => linksOf(router).map(({ id, iteration }) => ({ id, iteration }));
  t.same(
    ids(a),
    before.map(({ id, iteration }) => ({ id, iteration })),
    'the same link',
  );
  t.same(ids(b), ids(a));
});

t.test('connections of a group that overtake each other keep all bytes in order', { timeout: 60_000 }, async (t) => {
  await using network = await throughFaultyPort({ maxDefaultConnections: 4, maxAckConnections: 2 });
  const { a, between } = network;
  await until('all connections', () => between.open === 6);
  let turn = 0;
  between.delay = () => (turn++ * 7) % 23;
  const outcome = await longTransfer({ port: a.proxyPort, mebibytes: 4, every: 8, fault: async () => undefined });
  t.match(outcome, { bytes: 4 * 1024 * 1024, isEqual: true });
});

t.test('a silent connection of a group does not block circuits', { timeout: 60_000 }, async (t) => {
  await using network = await throughFaultyPort({ maxDefaultConnections: 3, maxAckConnections: 0 });
  const { a, between } = network;
  await until('all connections', () => between.open === 3);
  const outcome = await longTransfer({
    port: a.proxyPort,
    mebibytes: 32,
    every: 8,
    fault: async () => {
      if (between.open > 2) between.freeze();
    },
  });
  t.match(outcome, { bytes: 32 * 1024 * 1024, isEqual: true });
});

t.test(
  'a link whose peer stops reading is closed after writeTimeout and dialed again',
  { timeout: 90_000 },
  async (t) => {
    const options = { writeTimeout: '500ms' };
    await using network = await throughFaultyPort({ maxDefaultConnections: 1, maxAckConnections: 0, options });
    const { a, between } = network;
    const [before] = linksOf(a);
    t.ok(before);
    between.freeze();
    // More than the buffers of the network hold; without the timeout, heartbeats would close the link after a minute.
    const sockets = Array.from({ length: 12 }, () => {
      const socket = connect(a.proxyPort, '127.0.0.1').on('error', () => undefined);
      socket.write(Buffer.alloc(6 * 1024 * KIB));
      return socket;
    });
    await until('another link', () => linksOf(a).some(({ iteration }) => iteration !== before?.iteration), 45_000);
    for (const socket of sockets) socket.destroy();
    await until('traffic', async () => (await transfer(a.proxyPort, KIB).catch(() => ({ bytes: 0 }))).bytes === KIB);
  },
);

t.test('circuits prefer the link with the lower latency', { timeout: 60_000 }, async (t) => {
  const delay = 25;
  await using owned = new AsyncDisposableStack();
  const overlay = owned.use(await Overlay.start({ churnLimit: 0 }));
  const between = owned.use(await FaultyPort.start());
  between.delay = () => delay;
  const listener = (advertised: number, group: string) =>
    linkListener(0, { bindInterface: group, advertise: `tls:127.0.0.1:${advertised}`, groups: group });
  const extra = { metrics: { reportInterval: '300ms' } };
  const b = await overlay.addRouter({
    name: 'b',
    mode: 'host',
    link: { listeners: [listener(between.port, 'slow'), listener(0, 'fast')], dialers: [] },
    extra,
  });
  const [slowPort, fastPort] = b.ports.link;
  between.target = slowPort;
  const a = await overlay.addRouter({
    name: 'a',
    mode: 'proxy',
    link: { listeners: [], dialers: ['slow', 'fast'].map((groups) => ({ binding: 'transport', groups }) as const) },
    extra,
  });
  await overlay.addService('echo', b.id);
  const addresses = async () => {
    const links = await reportedLinks(overlay);
    const at = (port: number | undefined) => links.find(({ connections }) => connections[0]?.dest.endsWith(`:${port}`));
    return { fast: at(fastPort), slow: at(between.port) };
  };
  await until('both costs', async () => {
    const { slow, fast } = await addresses();
    return slow !== undefined && fast !== undefined && slow.cost < 60_000 && fast.cost < 60_000;
  });
  const { slow, fast } = await addresses();
  t.ok((slow?.cost ?? 0) > 3 * delay, `${slow?.cost}: both sides measure a round trip`);
  t.ok((fast?.cost ?? Number.POSITIVE_INFINITY) < (slow?.cost ?? 0), `${fast?.cost}`);
  const socket = owned.use(connect(a.proxyPort, '127.0.0.1'));
  await new Promise((resolve) => socket.once('data', resolve).write('hello'));
  t.same((await pathOf(overlay)).links, [fast?.id]);
  // A cost set by an administrator counts as well, and moves open circuits.
  await overlay.management.fabric.links.patch(fast?.id ?? '', { staticCost: 10_000 });
  await until('the circuit to move', async () => (await pathOf(overlay)).links[0] === slow?.id);
});
