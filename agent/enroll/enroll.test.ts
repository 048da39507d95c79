// Controllers that a router cannot enroll at easily: at an IPv6 address, or with an answer that never ends.

import type { KeyObject } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SignJWT } from 'jose';
import t, { type Test } from 'tap';
import { silentLog } from '#lib/log/log.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { issue, makeAuthority } from '../../test/support/clients/certificates.ts';
import type { RouterConfig } from '../config/router-config.ts';
import { enrollRouter } from './enroll.ts';
import { verifyToken } from './token.ts';

/** A controller on a free port of 127.0.0.1. `token` creates tokens that name it as `host`. */
async function controller(t: Test, handle: RequestListener, dates: { from?: number; to?: number } = {}) {
  const { pem, key } = await issue(await makeAuthority('Authority'), 'ctrl1', { ips: ['127.0.0.1'], ...dates });
  const server = createServer({ cert: pem, key: key.export({ type: 'pkcs8', format: 'pem' }) }, handle);
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const token = (host: string, claims: object = {}) => tokenOf(`https://${host}:${port}`, key, claims);
  return { port, token };
}

function tokenOf(issuer: string, key: KeyObject, claims: object): Promise<string> {
  return new SignJWT({ iss: issuer, sub: 'router', jti: 'secret', em: 'erott', ...claims })
    .setProtectedHeader({ alg: 'ES256' })
    .sign(key);
}

t.test('a token may name its controller by an IPv6 address', async (t) => {
  const { token } = await controller(t, () => undefined);
  const options = { clock: new VirtualClock(), timeout: 5_000, environment: {} };
  const verified = await verifyToken(await token('[::ffff:127.0.0.1]'), options);
  t.equal(verified.token.routerId, 'router');
});

t.test('a token of another signer is rejected with the certificate that the server presents', async (t) => {
  const { port } = await controller(t, () => undefined);
  const { key } = await issue(await makeAuthority('Other'), 'ctrl1', { ips: ['127.0.0.1'] });
  const options = { clock: new VirtualClock(), timeout: 5_000, environment: {} };
  await t.rejects(verifyToken(await tokenOf(`https://127.0.0.1:${port}`, key, {}), options), {
    code: 'TOKEN_SIGNATURE',
    message: /which presents a certificate of .*CN=ctrl1.*, issued by .*CN=Authority.*; or a load balancer in between/,
  });
});

t.test('an enrollment ends although the controller keeps sending its answer', async (t) => {
  const begun = Promise.withResolvers<void>();
  const { token } = await controller(t, (_request, response) => {
    response.write('A', () => begun.resolve());
  });
  const folder = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const path = (name: string) => join(folder, name);
  const config = {
    file: path('router.yml'),
    identity: { cert: path('cert'), server_cert: path('server.cert'), key: path('key'), ca: path('ca') },
    csr: {},
    ctrl: { endpoints: [{ type: 'tls', host: 'controller.example', port: 6262 }] },
  } as unknown as RouterConfig;
  const clock = new VirtualClock();
  const init = { config, jwt: await token('127.0.0.1'), keyAlgorithm: 'EC', clock, log: silentLog } as const;
  const enrolled = enrollRouter({ ...init, environment: {} });
  const rejected = t.rejects(enrolled, {
    code: 'CONTROLLER_UNREACHABLE',
    message: /its answer took longer than 60000 ms/,
  });
  await begun.promise;
  await clock.advance(59_000);
  t.same(clock.timers(), ['HTTP answer']);
  await clock.advance(1_000);
  await rejected;
  t.notOk(existsSync(path('key')));
  t.same(clock.timers(), []);
});

t.test('a wrong clock of this machine is named when the certificate of the controller seems invalid', async (t) => {
  const day = 86_400_000;
  const now = Date.now();
  const clock = new VirtualClock();
  for (const dates of [
    { from: now + day, to: now + 2 * day },
    { from: now - 2 * day, to: now - day },
  ]) {
    const { token } = await controller(t, (_request, response) => response.end(), dates);
    const folder = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
    t.teardown(() => rmSync(folder, { recursive: true, force: true }));
    const [file = '', cert = '', server_cert = '', key = '', ca = ''] = ['router.yml', 'a', 'b', 'c', 'd'].map((name) =>
      join(folder, name),
    );
    const endpoints = [{ type: 'tls', host: 'controller.example', port: 6262 }];
    const config = { file, identity: { cert, server_cert, key, ca }, csr: {}, ctrl: { endpoints } };
    const init = { config: config as unknown as RouterConfig, keyAlgorithm: 'EC', clock, log: silentLog } as const;
    await t.rejects(enrollRouter({ ...init, jwt: await token('127.0.0.1'), environment: {} }), {
      code: 'CONTROLLER_UNREACHABLE',
      message: new RegExp(
        `did not answer: .*; the clock of this machine says ${new Date(clock.now()).toISOString()}: `,
      ),
    });
  }
});

t.test('an enrollment that would leave the router without a controller ends before the token is used', async (t) => {
  let requests = 0;
  const { token } = await controller(t, (_request, response) => {
    requests++;
    response.end();
  });
  const folder = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const path = (name: string) => join(folder, name);
  const config = {
    file: path('router.yml'),
    identity: { cert: path('cert'), server_cert: path('server.cert'), key: path('key'), ca: path('ca') },
    csr: {},
    ctrl: { listeners: [] },
  } as unknown as RouterConfig;
  const init = { config, keyAlgorithm: 'EC', clock: new VirtualClock(), log: silentLog, environment: {} } as const;
  for (const claims of [{}, { ctrls: ['nowhere'] }, { ctrl: '', ctrls: 'tls:a:1' }])
    await t.rejects(enrollRouter({ ...init, jwt: await token('127.0.0.1', claims) }), { code: 'NO_CONTROLLER' });
  t.equal(requests, 0);
  t.notOk(existsSync(path('key')));
});
