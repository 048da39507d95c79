// Where proxies in front of routers lead, how many one router gets, and who may use them.

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { IoContext } from '#lib/net/io-context.ts';
import { systemRandom } from '#lib/random.ts';
import { SystemClock } from '#lib/time/clock.ts';
import type { Listener } from '#wire/gen/control_pb.js';
import { until } from '../../../test/support/until.ts';
import type { ConnectedRouter } from '../../network/connected-router.ts';
import { Proxies } from './proxies.ts';
import { ProxyTargets, proxyTarget } from './proxy-targets.ts';
import { RouterProxies } from './router-proxies.ts';

const FAULTS = { forConnection: () => undefined, onChange: () => () => undefined, know: () => undefined };

function opened(t: Test, names: readonly string[], { targets = [], host }: { targets?: string[]; host?: string } = {}) {
  const routers = new Map<string, ConnectedRouter>();
  const tables = { router: new Map(names.map((name) => [name, { id: name, name }])) };
  const wireClock = new SystemClock();
  const io = new IoContext({ clock: wireClock });
  const init = { wireClock, io, random: systemRandom, faults: FAULTS, host: '127.0.0.1' };
  const proxies = new Proxies(init as never);
  t.teardown(() => proxies.close());
  const allowed = new ProxyTargets(targets);
  const ofRouters = new RouterProxies({ state: { tables } as never, proxies, routers, targets: allowed, host });
  const join = async (id: string, addresses: readonly string[], { edge = '', remoteAddress = '127.0.0.1' } = {}) => {
    const linkListeners = addresses.map((address) => ({ address, protocol: 'tls' }) as Listener);
    const router = { id, linkListeners, supportedProtocols: { tls: edge }, remoteAddress } as never as ConnectedRouter;
    routers.set(id, router);
    await ofRouters.prepare(router);
    return router;
  };
  const to = (name: string) => proxies.list().find((each) => each.name === name)?.to;
  return { proxies, ofRouters, join, tables, to };
}

/** A server that counts its connections. */
async function listening(t: Test, host: string) {
  const sockets: Socket[] = [];
  const server = createServer((socket) => void sockets.push(socket.on('error', () => undefined)));
  server.listen(0, host);
  await once(server, 'listening');
  t.teardown(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return { port: (server.address() as AddressInfo).port, sockets };
}

t.test('a proxy leads to the address of the router, whatever host the router advertises', async (t) => {
  const { join, to, proxies } = opened(t, ['a', 'b']);
  const edge = 'tls://169.254.169.254:80';
  const router = await join('a', ['tls:169.254.169.254:80', 'tls:[::ffff:10.0.0.1]:22', 'tls:metadata.internal:80'], {
    edge,
    remoteAddress: '192.0.2.7',
  });
  t.equal(to('sdk:a'), '192.0.2.7:80');
  t.equal(to('link:b:a'), '192.0.2.7:80');
  t.equal(to('link:b:a:1'), '192.0.2.7:22');
  t.equal(to('link:b:a:2'), '192.0.2.7:80');
  router.linkListeners = [{ address: 'tls:127.0.0.1:6379', protocol: 'tls' } as Listener];
  t.equal(to('link:b:a'), '192.0.2.7:6379', 'another address later changes nothing');
  t.ok(proxies.list().every(({ host }) => host === '127.0.0.1'));
});

t.test('a router that is gone before its address is known gets no proxy to this machine', async (t) => {
  const { join, to, ofRouters } = opened(t, ['a', 'b']);
  const router = await join('a', ['tls:127.0.0.1:5'], { edge: 'tls://127.0.0.1:6', remoteAddress: '' });
  t.equal(to('link:b:a'), '');
  t.equal(to('sdk:a'), '');
  t.equal(ofRouters.links(router, 'b').length, 1);
});

t.test('a place that a router names gets no connection', { skip: process.platform !== 'linux' }, async (t) => {
  const victim = await listening(t, '127.0.0.2');
  const { join, proxies } = opened(t, ['a', 'b']);
  await join('a', [`tls:127.0.0.2:${victim.port}`]);
  const { port = 0 } = proxies.list().find(({ name }) => name === 'link:b:a') ?? {};
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  await until('the end', () => socket.closed);
  t.equal(victim.sockets.length, 0);
});

t.test('an administrator allows names, addresses and networks', async (t) => {
  const { join, to } = opened(t, ['a', 'b'], { targets: ['Router.Example', '10.0.0.0/8', '2001:db8::1'] });
  const addresses = ['router.example', '10.9.8.7', '[2001:db8::1]', '[::ffff:10.1.1.1]', '11.0.0.1', 'other.example'];
  await join(
    'a',
    addresses.map((host) => `tls:${host}:1`),
    { remoteAddress: '192.0.2.7' },
  );
  const places = addresses.map((_, index) => to(index === 0 ? 'link:b:a' : `link:b:a:${index}`));
  const own = '192.0.2.7:1';
  t.same(places, ['router.example:1', '10.9.8.7:1', '[2001:db8::1]:1', '[::ffff:10.1.1.1]:1', own, own]);
  for (const valid of ['router.example', '::1', '10.0.0.0/8', '0.0.0.0/0', '2001:db8::/32'])
    t.equal(proxyTarget(valid), undefined, valid);
  for (const invalid of ['', '10.0.0.0/33', '10.0.0/8', 'a b', '1.2.3.4/', '1.2.3.4/8/8', 'a:1', 7, undefined])
    t.match(proxyTarget(invalid), /for example/, String(invalid));
});

t.test('a router with thousands of listeners leaves proxies for others', async (t) => {
  const names = ['a', 'b', ...Array.from({ length: 98 }, (_, index) => `r${index}`)];
  const { join, proxies, to } = opened(t, names);
  const many = Array.from({ length: 2_000 }, (_, index) => `tls:127.0.0.1:${index + 1}`);
  await join('a', many, { edge: 'tls://127.0.0.1:1' });
  const leadingTo = (id: string) =>
    proxies.list().filter(({ name }) => name.split(':')[2] === id || name === `sdk:${id}`);
  t.ok(leadingTo('a').length <= 100, `${leadingTo('a').length} proxies`);
  await join('b', ['tls:127.0.0.1:6'], { edge: 'tls://127.0.0.1:7' });
  t.equal(to('link:a:b'), '127.0.0.1:6');
  t.equal(to('sdk:b'), '127.0.0.1:7');
});

t.test('the proxies of a deleted router end with the next change, and leave their places to others', async (t) => {
  const { join, proxies, tables } = opened(t, ['a', 'b', 'c']);
  const names = () =>
    proxies
      .list()
      .map(({ name }) => name)
      .sort();
  await join('b', []);
  for (let round = 0; round < 40; round++) {
    tables.router.set('a', { id: 'a', name: 'a' });
    await join('a', ['tls:127.0.0.1:5', 'tls:127.0.0.1:6']);
    t.same(names(), ['link:b:a', 'link:b:a:1', 'link:c:a', 'link:c:a:1', 'sdk:a', 'sdk:b'], `round ${round}`);
    tables.router.delete('a');
    await join('b', []);
    t.same(names(), ['sdk:b']);
  }
});

t.test('proxies on all interfaces are announced by the name of the simulator', async (t) => {
  const { join, ofRouters } = opened(t, ['a', 'b'], { host: 'sim.example' });
  const router = await join('a', ['tls:127.0.0.1:5'], { edge: 'tls://127.0.0.1:6' });
  t.match(ofRouters.links(router, 'b')[0]?.address, /^tls:sim\.example:\d+$/);
  t.match(ofRouters.edge('a', { tls: 'tls://127.0.0.1:6' }).tls, /^tls:\/\/sim\.example:\d+$/);
});

t.test(
  'a flood of connections takes the places of its own source',
  { skip: process.platform !== 'linux' },
  async (t) => {
    const wireClock = new SystemClock();
    const io = new IoContext({ clock: wireClock });
    const init = { wireClock, io, random: systemRandom, faults: FAULTS, host: '127.0.0.1' };
    const proxies = new Proxies(init as never, 10);
    t.teardown(() => proxies.close());
    const server = await listening(t, '127.0.0.1');
    const { port } = await proxies.open({ name: 'p', to: `127.0.0.1:${server.port}` });
    const dial = async (localAddress: string) => {
      const socket = connect({ port, host: '127.0.0.1', localAddress });
      socket.on('error', () => undefined);
      await once(socket, 'connect');
      return socket;
    };
    const held = await dial('127.0.0.3');
    const flood = await Promise.all(Array.from({ length: 30 }, () => dial('127.0.0.2')));
    await until('the end of the rest', () => flood.filter((socket) => !socket.closed).length === 9);
    t.equal(proxies.list()[0]?.connections, 10);
    const late = await dial('127.0.0.4');
    await until('a place for the late one', () => flood.filter((socket) => !socket.closed).length === 8);
    t.notOk(held.closed);
    t.notOk(late.closed);
    for (const socket of [held, late, ...flood]) socket.destroy();
  },
);
