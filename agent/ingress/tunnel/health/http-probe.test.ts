// The HTTP probe against real servers.

import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { type HttpProbe, readChecks } from './check-config.ts';
import { probeHttp } from './http-probe.ts';

async function serve(t: Test, listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  t.teardown(() => server.close());
  await once(server, 'listening');
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

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
