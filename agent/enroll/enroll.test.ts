// Controllers that a router cannot enroll at easily: at an IPv6 address.

import type { KeyObject } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { SignJWT } from 'jose';
import t, { type Test } from 'tap';
import { VirtualClock } from '#lib/clock.ts';
import { issue, makeAuthority } from '../../test/support/certificates.ts';
import { verifyToken } from './token.ts';

/** A controller on a free port of 127.0.0.1. `token` creates tokens that name it as `host`. */
async function controller(t: Test, handle: RequestListener) {
  const { pem, key } = await issue(await makeAuthority('Authority'), 'ctrl1', { ips: ['127.0.0.1'] });
  const server = createServer({ cert: pem, key: key.export({ type: 'pkcs8', format: 'pem' }) }, handle);
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const token = (host: string) => tokenOf(`https://${host}:${port}`, key);
  return { token };
}

function tokenOf(issuer: string, key: KeyObject): Promise<string> {
  return new SignJWT({ iss: issuer, sub: 'router', jti: 'secret', em: 'erott' })
    .setProtectedHeader({ alg: 'ES256' })
    .sign(key);
}

t.test('a token may name its controller by an IPv6 address', async (t) => {
  const { token } = await controller(t, () => undefined);
  const options = { clock: new VirtualClock(), timeout: 5_000, environment: {} };
  const verified = await verifyToken(await token('[::ffff:127.0.0.1]'), options);
  t.equal(verified.token.routerId, 'router');
});
