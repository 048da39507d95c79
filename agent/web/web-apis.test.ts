// The answers of the web APIs to all kinds of requests.

import t from 'tap';
import { VirtualClock } from '#lib/time/clock.ts';
import { Health } from '../health/health.ts';
import { type WebApiComponents, WebApis } from './web-apis.ts';

function apis(...bindings: string[]): WebApis {
  const check = { interval: 1_000, initialDelay: 1_000 };
  const clock = new VirtualClock();
  const health = new Health(
    { clock, controllers: () => [], links: () => [], isDraining: () => false, unconnectedSince: () => 0 },
    { ctrlPingCheck: check, linkCheck: { ...check, minLinks: 0 } },
  );
  return new WebApis({ clock, health, metrics: undefined }, bindings);
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

t.test('clients of one second share a rendered and compressed answer', async (t) => {
  const clock = new VirtualClock();
  const count = { pages: 0, checks: 0 };
  let ready = true;
  const health = {
    get ready() {
      return ready;
    },
    payload: () => `checks ${++count.checks}`,
  } as Health;
  const metrics = { contentType: 'text/plain', render: async () => `page ${++count.pages}` };
  const web = new WebApis({ clock, health, metrics } as unknown as WebApiComponents, ['health-checks', 'metrics']);
  const ask = (target: string) => Promise.all(Array.from({ length: 100 }, () => web.answer('GET', target)));
  const [first, ...others] = await ask('/metrics');
  t.equal(count.pages, 1);
  t.ok(others.every(({ reused }) => reused && reused.encoded('br') === first?.reused?.encoded('br')));
  t.not(first?.reused?.encoded('br'), first?.reused?.encoded('gzip'));
  for (const target of ['/health-checks', '/livez', '/readyz', '/livez?any']) await ask(target);
  t.equal(count.checks, 1);
  ready = false;
  t.match(await web.answer('GET', '/readyz'), { status: 503, body: 'checks 2' }, 'readiness is never outdated');
  await clock.advance(999);
  await ask('/metrics');
  t.equal(count.pages, 1);
  await clock.advance(1);
  t.match((await ask('/metrics')).at(-1), { status: 200, body: 'page 2' });
  t.equal(count.pages, 2);
});

t.test('a page that cannot be rendered is tried again at once', async (t) => {
  let isBroken = true;
  const render = async () => {
    if (isBroken) throw new Error('broken');
    return 'page';
  };
  const components = { clock: new VirtualClock(), health: undefined, metrics: { contentType: 'text/plain', render } };
  const web = new WebApis(components as unknown as WebApiComponents, ['metrics']);
  await t.rejects(web.answer('GET', '/metrics'), { message: 'broken' });
  isBroken = false;
  t.match(await web.answer('GET', '/metrics'), { status: 200, body: 'page' });
});
