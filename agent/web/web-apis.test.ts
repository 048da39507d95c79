// The answers of the web APIs to all kinds of requests.

import t from 'tap';
import { VirtualClock } from '#lib/clock.ts';
import { Health } from '../health/health.ts';
import { WebApis } from './web-apis.ts';

function apis(...bindings: string[]): WebApis {
  const check = { interval: 1_000, initialDelay: 1_000 };
  const health = new Health(
    { clock: new VirtualClock(), controllers: () => [], links: () => [], isDraining: () => false },
    { ctrlPingCheck: check, linkCheck: { ...check, minLinks: 0 } },
  );
  return new WebApis({ health, metrics: undefined }, bindings);
}

t.test('an invalid target is rejected with an answer', async (t) => {
  for (const target of ['//', '//:', '///\\', 'http://[', '*', ''])
    t.match(String((await apis('health-checks', 'metrics').answer('GET', target)).status), /^40[04]$/, target);
  t.equal((await apis('health-checks', 'metrics').answer('GET', 'https://router/livez')).status, 200, 'a whole URL');
});

t.test('the only API of a server answers every path, except the path of a missing API', async (t) => {
  t.match(await apis('health-checks').answer('GET', '/metrics'), { status: 404, body: /use .health-checks/ });
  t.equal((await apis('health-checks').answer('GET', '/anything')).status, 200);
  t.equal((await apis('health-checks', 'metrics').answer('GET', '/anything')).status, 404);
});

t.test('the APIs are read-only: other methods than GET and HEAD are rejected with the allowed ones', async (t) => {
  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'TRACE', 'PROPFIND'])
    t.match(await apis('health-checks').answer(method, '/health-checks'), {
      status: 405,
      headers: { allow: 'GET, HEAD, OPTIONS' },
      body: /METHOD_NOT_ALLOWED/,
    });
  t.match(await apis('health-checks').answer('OPTIONS', '*'), { status: 204, headers: { allow: /GET/ }, body: '' });
  t.equal((await apis('health-checks').answer('HEAD', '/livez')).status, 200);
});
