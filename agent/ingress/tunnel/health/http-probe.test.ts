// The HTTP probe against real servers.

import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { IoContext } from '#lib/net/io-context.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { issue, makeAuthority } from '../../../../test/support/clients/certificates.ts';
import { type CheckConfig, type HttpProbe, readChecks } from './check-config.ts';
import { probeHttp } from './http-probe.ts';
import { probe } from './probes.ts';

async function serve(t: Test, listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  t.teardown(() => server.close());
  await once(server, 'listening');
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const NOT_LINUX = process.platform !== 'linux' && 'SSL_CERT_FILE names the authorities of a Linux machine';
const TIMES = { interval: '5s', timeout: '5s' };

async function run(url: string): Promise<void> {
  const [check] = readChecks({ httpChecks: [{ url, ...TIMES }] });
  await probeHttp(check?.probe as HttpProbe, { signal: AbortSignal.timeout(5_000) });
}

t.test('the user and password of a URL are sent to its server only, and do not appear in the name', async (t) => {
  const seen: (string | undefined)[] = [];
  const other = await serve(t, (request, response) => {
    seen.push(request.headers.authorization);
    response.end();
  });
  const host = await serve(t, (request, response) => {
    seen.push(request.headers.authorization);
    if (request.url === '/moved') response.writeHead(302, { location: `http://${other}/` }).end();
    else response.writeHead(request.headers.authorization === undefined ? 401 : 200).end();
  });
  const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
  for (const [user, expected] of [
    ['monitor:p%40ss@', basic('monitor:p@ss')],
    ['monitor:p@ss@', basic('monitor:p@ss')],
    ['monitor@', basic('monitor:')],
  ] as const)
    await run(`http://${user}${host}/health`).then(() => t.equal(seen.pop(), expected, user));
  await t.rejects(run(`http://${host}/health`), { message: /status 401/ });
  seen.length = 0;
  await run(`http://monitor:secret@${host}/moved`);
  t.same(seen, [basic('monitor:secret'), undefined]);
  const url = `http://monitor:secret@${host}/health?x=a@b`;
  t.equal(readChecks({ httpChecks: [{ url, ...TIMES }] })[0]?.name, `GET http://${host}/health?x=a@b`);
  t.throws(() => readChecks({ httpChecks: [{ url: 'ftp://monitor:secret@web', ...TIMES }] }), {
    message: /found "ftp:\/\/web"/,
  });
});

t.test('the time to load the HTTP client does not count', async (t) => {
  const host = await serve(t, (_request, response) => response.end());
  const [check] = readChecks({ httpChecks: [{ url: `http://${host}/`, ...TIMES }] });
  const clock = new VirtualClock();
  const running = probe(check as CheckConfig, { io: new IoContext({ clock }), signal: new AbortController().signal });
  t.same(clock.timers(), []);
  await running;
});

t.test('an authority of this machine is trusted', { skip: NOT_LINUX }, async (t) => {
  const authority = await makeAuthority('company');
  const { pem, key } = await issue(authority, 'web', { hosts: ['localhost'] });
  const server = createTlsServer(
    { cert: pem, key: key.export({ type: 'pkcs8', format: 'pem' }) },
    (_request, response) => void response.end(),
  ).listen(0, 'localhost');
  t.teardown(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const folder = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'company.pem'), authority.certificate.toString('pem'));
  // The authorities are read once in a process.
  const script = `
    import { probeHttp } from ${JSON.stringify(join(import.meta.dirname, 'http-probe.ts'))};
    const probe = { kind: 'http', url: 'https://localhost:${port}/', method: 'GET', expectStatus: 200 };
    await probeHttp(probe, { signal: AbortSignal.timeout(10_000) });`;
  const run = (environment: NodeJS.ProcessEnv) =>
    promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], {
      env: { ...process.env, ...environment },
    });
  await run({ SSL_CERT_FILE: join(folder, 'company.pem') });
  await t.rejects(run({}), { message: /unable to verify|unable to get local issuer/ });
});
