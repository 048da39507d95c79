// The queue of health checks.

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { silentLog } from '#lib/log/log.ts';
import { IoContext } from '#lib/net/io-context.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { until } from '../../../../test/support/until.ts';
import type { CheckConfig } from './check-config.ts';
import { HealthChecks } from './health-checks.ts';

t.test('waiting probes of a service that is no longer hosted do not run', async (t) => {
  const requests: (string | undefined)[] = [];
  const server = createServer((request) => void requests.push(request.url)).listen(0, '127.0.0.1'); // never answers
  await once(server, 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const check = (path: string): CheckConfig => ({
    name: path,
    probe: {
      kind: 'http',
      url: `http://127.0.0.1:${port}${path}`,
      authorization: undefined,
      method: 'GET',
      body: undefined,
      expectStatus: 200,
      expectInBody: undefined,
    },
    interval: 60_000,
    tooShort: undefined,
    timeout: 5_000,
    actions: [],
  });
  const clock = new VirtualClock();
  const health = new HealthChecks({ io: new IoContext({ clock }), log: silentLog });
  const report = { weight: () => undefined, event: () => undefined };
  const base = { cost: 0, precedence: 'default' as const };
  const watch = (id: string, count: number) =>
    health.watch(id, id, { checks: Array.from({ length: count }, () => check(`/${id}`)), base, report });
  watch('busy', 50);
  watch('removed', 10);
  watch('kept', 1);
  await until('all workers to be busy', () => requests.length === 50);
  health.unwatch('removed');
  await clock.advance(5_000);
  await until('the next probe', () => requests.includes('/kept'));
  t.equal(requests.length, 51);
  t.notOk(requests.includes('/removed'));
  await health.close();
  await until('the end of the probes', () => clock.timers().length === 0);
});
