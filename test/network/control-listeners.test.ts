// Routers that listen for controllers: they accept controllers that dial them, and reject all other peers.

import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createServer, type TLSSocket } from 'node:tls';
import t from 'tap';
import { createLog } from '#lib/log/log.ts';
import { IoContext } from '#lib/net/io-context.ts';
import { SystemClock } from '#lib/time/clock.ts';
import { acceptHello, readHello, sendHello } from '#wire/channel/hello.ts';
import { formatVersionInfo, ownVersionInfo } from '#wire/channel/version-info.ts';
import { dialTls } from '#wire/connection/dial.ts';
import { Alpn } from '#wire/connection/tls-port.ts';
import { Underlay } from '#wire/connection/underlay.ts';
import { ChannelHeader, ControlHeader, ControllerCapability } from '#wire/gen/numbers.ts';
import { encodeBitMask, TRUE } from '#wire/header-values.ts';
import type { Router } from '../../agent/router.ts';
import { transfer } from '../../examples/two-routers/transfer.ts';
import { issue, makeAuthority } from '../support/clients/certificates.ts';
import { fixedPorts } from '../support/networks/fixed-ports.ts';
import { endpointsOf, listeningRouter } from '../support/networks/listening-router.ts';
import { Overlay } from '../support/networks/overlay.ts';
import { until } from '../support/until.ts';

const controllers = (router: Router) => router.describe().controllers;

t.test('a controller dials routers that cannot reach it; they work normally, and are redialed', async (t) => {
  await using overlay = await Overlay.start({ churnLimit: 0, dialRouters: true });
  const { management } = overlay;
  const [port] = await fixedPorts(1);
  const a = await listeningRouter(overlay, 'a', 'proxy', ['one', 'two'], port);
  const b = await listeningRouter(overlay, 'b', 'host', ['one', 'two']);
  for (const { id, controlPort } of [a, b])
    await management.edgeRouters.patch(id, { ctrlChanListeners: { [`tls:127.0.0.1:${controlPort}`]: [] } });
  await until('the controller to dial', () => [a, b].every(({ router }) => controllers(router).length === 1));
  t.match(controllers(a.router), [{ id: overlay.simulator.controllerId, isResponsive: true }]);
  await overlay.addService('echo', b.id);
  await overlay.ready();
  t.equal((await transfer(a.proxyPort, 10_000)).bytes, 10_000);
  const detail = await management.edgeRouters.get(a.id);
  t.match(JSON.stringify(detail), new RegExp(`tls:127.0.0.1:${a.controlPort}`), 'routers report their listeners');
  await a.router.close({ drain: 0 });
  rmSync(endpointsOf(a.configFile), { force: true });
  const again = await overlay.startRouter(a.configFile);
  await until('the controller to dial again', () => controllers(again).length === 1);
  await again.close({ drain: 0 });
});

t.test('a controller that stops ends its dials, also those that wait for the answer to the hello', async (t) => {
  await using overlay = await Overlay.start({ churnLimit: 0, dialRouters: true });
  const { id } = await overlay.enrollRouter({ name: 'slow', mode: 'host' });
  const read = (file: string) => readFileSync(join(overlay.directory, file), 'utf8');
  const context = { cert: read('slow.cert'), key: read('slow.key'), ca: read('slow.ca') };
  const { promise: dialed, resolve: onDial } = Promise.withResolvers<TLSSocket>();
  const server = createServer({ ...context, ALPNProtocols: [Alpn.Control], requestCert: true }, onDial);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await overlay.management.edgeRouters.patch(id, { ctrlChanListeners: { [`tls:127.0.0.1:${port}`]: [] } });
  const underlay = new Underlay({ socket: await dialed, io: new IoContext({ clock: new SystemClock() }) });
  const hello = await readHello(underlay, 5_000);
  await overlay.simulator.close();
  acceptHello(underlay, hello, [
    [ChannelHeader.ListenerId, id],
    [ChannelHeader.HelloVersion, formatVersionInfo(ownVersionInfo('2.0.0'))],
  ]);
  await underlay.closed;
  server.close();
  t.ok(underlay.isClosed);
});

t.test('only certificates of controllers are accepted', async (t) => {
  const lines: string[] = [];
  const log = createLog({ write: (line) => lines.push(line) });
  await using overlay = await Overlay.start({ churnLimit: 0, log });
  const { router, controlPort: port, id } = await listeningRouter(overlay, 'a', 'host', ['one', 'two']);
  const other = await overlay.enrollRouter({ name: 'other', mode: 'host' });
  const read = (file: string) => readFileSync(join(overlay.directory, file), 'utf8');
  const stranger = await issue(await makeAuthority('Stranger'), 'ctrl', { uris: ['spiffe://x/controller/ctrl'] });
  const clock = new SystemClock();
  const dial = async (claimed: string, cert: string, key: string) => {
    const socket = await dialTls({
      address: { type: 'tls', host: '127.0.0.1', port },
      alpn: [Alpn.Control],
      context: { cert, key, ca: read('a.ca') },
      timeout: 5_000,
      clock,
    });
    const underlay = new Underlay({ socket, io: new IoContext({ clock }) });
    const headers = [
      [ChannelHeader.HelloVersion, formatVersionInfo(ownVersionInfo('2.0.0'))],
      [ControlHeader.Capabilities, encodeBitMask([ControllerCapability.JwtLegacySessions])],
      [ChannelHeader.IsGrouped, TRUE],
      [ChannelHeader.FirstInGroup, TRUE],
    ] as const;
    try {
      await sendHello(underlay, claimed, headers, 5_000);
      return 'answered';
    } catch {
      return 'closed';
    } finally {
      underlay.close();
    }
  };
  t.equal(
    await dial('ctrl', stranger.pem, String(stranger.key.export({ type: 'pkcs8', format: 'pem' }))),
    'closed',
    'a foreign authority',
  );
  await until('the log', () => lines.some((line) => line.includes('hello rejected')));
  t.match(
    lines.find((line) => line.includes('hello rejected')),
    `does not lead to a trusted certificate authority (trusted authorities: identity.ca (${overlay.directory}/a.ca))`,
  );
  t.equal(await dial(other.id, read('other.cert'), read('other.key')), 'closed', 'another router, as itself');
  t.equal(
    await dial(overlay.simulator.controllerId, read('other.cert'), read('other.key')),
    'closed',
    'another router, as the controller',
  );
  t.equal(await dial(id, read('a.cert'), read('a.key')), 'closed', 'the router itself');
  t.same(controllers(router), []);
});
