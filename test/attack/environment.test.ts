// An environment that disables the verification of certificates, for example for the programs of a developer.

import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { Agent, request } from 'undici';
import { HttpClient } from '#http/http-client.ts';
import { silentLog } from '#lib/log/log.ts';
import { IoContext } from '#lib/net/io-context.ts';
import { SystemClock } from '#lib/time/clock.ts';
import { dialTls } from '#wire/connection/dial.ts';
import { TlsPort } from '#wire/connection/tls-port.ts';
import { Identity } from '../../agent/identity/identity.ts';
import { ApiProxy } from '../../agent/web/api-proxy.ts';
import { openClient } from '../../controller-sim/client/api-client.ts';
import { issue, makeAuthority } from '../support/clients/certificates.ts';

/** Only during a test: other files share the process. */
function disableVerification(t: Test): void {
  const { emitWarning } = process;
  process.emitWarning = () => undefined; // Node warns of the variable
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
  t.teardown(() => {
    delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    process.emitWarning = emitWarning;
  });
}

t.test('programs verify controllers and routers regardless of NODE_TLS_REJECT_UNAUTHORIZED', async (t) => {
  disableVerification(t);
  const clock = new SystemClock();
  const pemOf = (authority: Awaited<ReturnType<typeof makeAuthority>>) => authority.certificate.toString('pem');
  const [ours, attackers] = [await makeAuthority('ours'), await makeAuthority('attacker')];
  const attacker = await issue(attackers, 'localhost');
  const server = createServer({ cert: attacker.pem, key: attacker.key.export({ type: 'pkcs8', format: 'pem' }) });
  server.on('request', (_request, response) => response.end('attacker'));
  t.teardown(() => (server.closeAllConnections(), server.close()));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const ca = pemOf(ours);

  const address = { type: 'tls', host: 'localhost', port } as const;
  await t.rejects(dialTls({ address, context: { ca }, timeout: 5_000, clock }), /issuer certificate/, 'dial');

  const url = new URL(`https://localhost:${port}/`);
  await using asking = new HttpClient({ limits: { step: 5_000, whole: 5_000, bytes: 100 }, trust: { ca } });
  await t.rejects(asking.send(url), /verify the first certificate/, 'enrollment, and other requests');
  await using typed = openClient('management', { baseUrl: url.origin, ca, username: 'a', password: 'b' });
  await t.rejects(typed.services.list(), /verify the first certificate/, 'typed client');

  const router = await issue(ours, 'router');
  const key = `pem:${router.key.export({ type: 'pkcs8', format: 'pem' })}`;
  const config = { cert: `pem:${router.pem}`, key, ca: `pem:${ca}`, alt_server_certs: [] };
  const identity = await Identity.open({ config, clock, log: silentLog });
  const listener = await TlsPort.open({
    io: new IoContext({ clock: new SystemClock() }),
    host: '127.0.0.1',
    port: 0,
    context: identity.serverContexts(),
    log: silentLog,
  });
  t.teardown(() => listener.close());
  const proxy = new ApiProxy(
    { io: new IoContext({ clock }), log: silentLog, port: listener, identity },
    { host: 'localhost', port },
  );
  t.teardown(() => proxy.close());
  const client = new Agent({ connect: { rejectUnauthorized: false } });
  t.teardown(() => client.close());
  const { statusCode, body } = await request(`https://${proxy.address}/`, { dispatcher: client });
  t.equal(statusCode, 502, 'API proxy');
  t.notMatch((await buffer(body)).toString(), 'attacker');
});
