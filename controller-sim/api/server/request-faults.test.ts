// The limit on requests that a fault delays. The other effects are tested over the port: test/api/lab-faults.test.ts.

import fastify from 'fastify';
import t from 'tap';
import { seededRandom } from '#lib/random.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { ApiError } from '../../errors/errors.ts';
import { Faults } from '../../lab/faults/faults.ts';
import { HttpTraffic } from '../../lab/http-traffic.ts';
import type { ApiServices } from '../operations/context.ts';
import { RequestFaults } from './request-faults.ts';

t.test('requests beyond the limit of waiting ones are asked to retry, and places are given back', async (t) => {
  const clock = new VirtualClock();
  const faults = new Faults({
    state: undefined as never, // only faults of control channels look up routers
    network: { routers: new Map() },
    random: seededRandom(1),
    wireClock: clock,
  });
  const app = fastify();
  t.teardown(() => app.close());
  app.decorateRequest('record', undefined);
  const journal = { end: () => undefined };
  const tap = new HttpTraffic({ add: () => undefined }, faults);
  const services = { tap, wireClock: clock } as unknown as ApiServices;
  new RequestFaults({ services, journal, send: () => undefined }).addTo(app);
  app.setErrorHandler((error, _request, reply) => reply.code(error instanceof ApiError ? error.status : 500).send());
  app.get('/x', () => 'done');
  const ask = async () => (await app.inject('/x')).statusCode;
  const settled = () => new Promise((resolve) => setTimeout(resolve, 20));

  faults.add({ kind: 'http', delay: 1_000 });
  for (let round = 0; round < 3; round++) {
    const answers = Array.from({ length: 1_000 }, ask);
    while (clock.timers().length < 1_000) await settled();
    t.equal(await ask(), 429);
    await clock.advance(1_000);
    t.same([...new Set(await Promise.all(answers))], [200]);
    t.same(clock.timers(), []);
  }
});
