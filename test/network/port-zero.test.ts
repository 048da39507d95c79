// Listeners with port 0: the system chooses the port, and the router tells controllers and other routers that one.

import { connect } from 'node:net';
import t from 'tap';
import { edgeListener, linkDialer, linkListener, webServer } from '../support/config/link-config.ts';
import { Overlay } from '../support/networks/overlay.ts';
import { runProgram } from '../support/programs/run.ts';
import { until } from '../support/until.ts';

const FREE = 'tls:127.0.0.1:0';
const LINK = { listeners: [linkListener(0)], dialers: [linkDialer()] };

/** A TCP connection to `host:port` opens. */
function isOpen(address: string): Promise<boolean> {
  const [host = '', port] = address.split(':');
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect({ host, port: Number(port) })
    .once('connect', () => resolve(true))
    .once('error', ({ code }: NodeJS.ErrnoException) => resolve(code === 'ECONNRESET')); // nobody hosts the service
  return promise.finally(() => socket.destroy());
}

t.test('port 0 of link, SDK and control listeners is advertised as the port that the system chose', async (t) => {
  await using overlay = await Overlay.start({ churnLimit: 0 });
  const { management } = overlay;
  const setup = { link: LINK, listeners: [edgeListener(0)] };
  const a = await overlay.addRouter({ name: 'a', mode: 'proxy', ...setup });
  const b = await overlay.addRouter({ name: 'b', mode: 'host', link: LINK });
  await overlay.addService('echo', b.id);
  await overlay.ready();
  t.pass('the link is up');

  const read = () => management.edgeRouters.get(a.id);
  await until('the router to report its listeners', async () => 'tls' in ((await read()).supportedProtocols ?? {}));
  const sdk = (await read()).supportedProtocols?.tls?.replace('tls://', '') ?? '';
  t.match(sdk, /^127\.0\.0\.1:[1-9]\d+$/);
  t.ok(await isOpen(sdk));
  t.match(a.router.describe(), { edgeListeners: [{ host: '127.0.0.1', port: Number(sdk.split(':')[1]) }] });
});

t.test('the state of a router names the port of each of its listeners, for programs and for operators', async (t) => {
  await using overlay = await Overlay.start({ churnLimit: 0 });
  const ctrl = { listeners: [{ bind: FREE, advertise: 'tls:edge.example:0' }] };
  const edge = { apiProxy: { listener: '127.0.0.1:0', upstream: new URL(overlay.simulator.baseUrl).host } };
  const extra = { web: [webServer(0, 'health-checks')] };
  const setup = { mode: 'proxy', link: LINK, ctrl, listeners: [edgeListener(0)], edge, extra } as const;
  const { router, configFile } = await overlay.addRouter({ name: 'a', services: ['echo:0', 'echo:0:udp'], ...setup });
  const state = router.describe();
  for (const [name, address] of [
    ['link', state.linkListeners[0]?.bind.replace('tls:', '')],
    ['control', state.controlListeners[0]?.bind.replace('tls:', '')],
    ['sdk', state.edgeListeners.map(({ host, port }) => `${host}:${port}`)[0]],
    ['web', state.web[0]],
    ['API proxy', state.apiProxy],
    ['proxy', `127.0.0.1:${state.proxies[0]?.port}`],
  ] as const)
    t.ok(await isOpen(address ?? ''), `${name}: ${address}`);
  t.equal(state.linkListeners[0]?.advertise, state.linkListeners[0]?.bind);
  t.equal(state.controlListeners[0]?.advertise, state.controlListeners[0]?.bind.replace('127.0.0.1', 'edge.example'));
  t.match(state.proxies[1], { protocol: 'udp', port: /^[1-9]/ });
  const { linkListeners, controlListeners, web, apiProxy } = state;
  const inspected = await runProgram(['entry/router-cli.ts', 'inspect', configFile, '--json']);
  t.match(JSON.parse(inspected.stdout), { linkListeners, controlListeners, web, apiProxy });
  const health = await runProgram(['entry/router-cli.ts', 'health', configFile]);
  t.match(health.stdout, /controllerPing/, 'health asks the router itself, whose file does not tell the port');
});

t.test('two listeners for controllers with port 0 have a port each, and both are advertised', async (t) => {
  await using overlay = await Overlay.start({ churnLimit: 0 });
  const { management } = overlay;
  const listener = { bind: FREE, advertise: FREE };
  const ctrl = { listeners: [listener, listener] };
  const { id, router } = await overlay.addRouter({ name: 'listening', ctrl, link: LINK });
  const read = async () =>
    Object.keys((await management.edgeRouters.get(id)).ctrlChanListeners ?? {}).map((each) => each.replace('tls:', ''));
  await until('the router to report its listeners', async () => (await read()).length === 2);
  const reported = await read();
  t.equal(new Set(reported).size, 2);
  for (const each of reported) {
    t.match(each, /^127\.0\.0\.1:[1-9]\d+$/);
    t.ok(await isOpen(each));
  }
  await router.close({ drain: 0 });
});
