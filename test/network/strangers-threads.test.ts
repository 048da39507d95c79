// While strangers use more of the main thread than others should feel, threads accept every kind of client of a
// controller and of a router. The clients do not notice, and nothing is left of them.

import { once } from 'node:events';
import { connect } from 'node:tls';
import t, { type Test } from 'tap';
import WebSocket, { createWebSocketStream } from 'ws';
import { silentLog } from '#lib/log/log.ts';
import { IoContext } from '#lib/net/io-context.ts';
import { whyNoSystemLibrary } from '#lib/process/system-library.ts';
import { IoThreads } from '#lib/threads/io-threads.ts';
import { SystemClock } from '#lib/time/clock.ts';
import { transfer } from '../../examples/two-routers/transfer.ts';
import { enrollDevice, loginLegacy, loginOidc, SdkClient, serviceSession } from '../support/clients/sdk-client.ts';
import { dialing, edgeListener, listening, webServer } from '../support/config/link-config.ts';
import { Overlay, type TestRouter } from '../support/networks/overlay.ts';
import { until } from '../support/until.ts';

const HOST = '127.0.0.1';
const PROGRAM = new URL('../../agent/assembly/io-thread.ts', import.meta.url);
const MIB = 1024 * 1024;
const options = { skip: whyNoSystemLibrary() ?? false };
/** Milliseconds between two acts of strangers. */
const PAUSE = 200;

/** A context with a thread, whose strangers are always noticed. */
function context(t: Test) {
  const clock = new SystemClock();
  const threads = new IoThreads({ count: 1, program: PROGRAM, clock, log: silentLog });
  const io = new IoContext({ clock, threads });
  const strangers = () => void io.unauthenticatedCpu.run({ remoteAddress: '192.0.2.1' }, () => undefined, 40);
  strangers();
  const timer = setInterval(strangers, PAUSE);
  t.teardown(async () => {
    clearInterval(timer);
    await threads.close();
  });
  const accepted = () => threads.inspect()[0]?.kinds.accepted ?? 0;
  return { io, threads, accepted };
}

async function network(t: Test) {
  const [controller, router] = [context(t), context(t)];
  const overlay = await Overlay.start({ churnLimit: 0 }, controller.io);
  t.teardown(() => overlay.close());
  const a = await overlay.addRouter({ name: 'a', mode: 'proxy', link: dialing({ startupDelay: '0s' }) });
  const b = await overlay.addRouter(
    {
      name: 'b',
      mode: 'host',
      link: listening(),
      listeners: [edgeListener(0), edgeListener(0, 'wss'), { binding: 'transport', address: `tls:${HOST}:0` }],
      edge: { apiProxy: { listener: `${HOST}:0`, upstream: new URL(overlay.simulator.baseUrl).host } },
      extra: { web: [webServer(0, 'health-checks', 'metrics')] },
    },
    { io: router.io },
  );
  const all = { semantic: 'AnyOf', identityRoles: ['#all'], edgeRouterRoles: ['#all'] } as const;
  await overlay.management.edgeRouterPolicies.create({ name: 'all', ...all });
  const echo = await overlay.addService('echo', b.id, { encrypted: false });
  await overlay.ready();
  return { overlay, a, b, echo, controller, router };
}

const isConnected = ({ router }: TestRouter) => router.describe().controllers.some(({ isResponsive }) => isResponsive);

t.test('threads accept routers, SDK clients, browsers and administrators', options, async (t) => {
  const { overlay, a, b, echo, controller, router } = await network(t);
  t.ok(controller.accepted() >= 2, 'an administrator and the channels of routers');
  t.ok(router.accepted() >= 1, 'the link of the other router');

  const { bytes, sha256Sent, sha256Received } = await transfer(a.ports.proxy[0] ?? 0, 3 * MIB);
  t.same([bytes, sha256Received], [3 * MIB, sha256Sent], 'bytes over the link');

  const device = await enrollDevice(overlay, 'device');
  t.ok(await loginOidc(overlay, device));
  const token = await loginLegacy(overlay, device);
  const session = await serviceSession(overlay, device, token, echo, 'Dial');
  const [edge = 0, browsers = 0] = b.ports.sdk;
  const before = router.accepted();
  const client = await SdkClient.connect(edge, device, token);
  t.equal(router.accepted(), before + 1);
  const webSocket = new WebSocket(`wss://${HOST}:${browsers}/ws`, { rejectUnauthorized: false });
  await once(webSocket, 'open');
  const key = device.key.export({ type: 'pkcs8', format: 'pem' });
  const stream = createWebSocketStream(webSocket).on('error', () => undefined);
  const inner = connect({ socket: stream, rejectUnauthorized: false, cert: device.cert, key });
  const browser = await SdkClient.over(inner, token);
  t.equal(router.accepted(), before + 3, 'TLS below the WebSocket, and inside');
  for (const each of [client, browser]) {
    const { conn } = await each.dial(session);
    const text = 'x'.repeat(30_000);
    for (let count = 0; count < 10; count++) conn.send(text);
    await until('the echo', () => conn.text.length === 10 * text.length);
    t.equal(conn.text, text.repeat(10));
    each.close();
  }

  const { apiProxy, web } = b.router.describe();
  const { bytes: page } = await device.http.send(`https://${web[0]}/metrics`);
  t.match(String(page), 'edgeweave_router_thread_utilization_ratio');
  const { status } = await device.http.send(`https://${apiProxy}/edge/client/v1/current-identity`, {
    headers: { 'zt-session': token },
  });
  t.equal(status, 200, 'through the API proxy, with the certificate of the client');
  await device.http.close();
  await until('the clients to be gone', () => router.accepted() <= before);
  t.ok(controller.io.strangersInThreads.size <= 1 && router.io.strangersInThreads.size === 0, 'nobody is a stranger');
});

t.test('the end of a thread ends its connections, and routers and clients come back', options, async (t) => {
  const { overlay, a, b, controller } = await network(t);
  await controller.threads.close();
  await until('the routers to lose their controller', () => !isConnected(a) || !isConnected(b));
  await until('the routers to be back', () => isConnected(a) && isConnected(b));
  t.ok((await overlay.management.identities.list()).length > 0);
});
