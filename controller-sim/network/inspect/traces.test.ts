// The time in which the circuits of an identity are traced.

import t from 'tap';
import { IdSource } from '#lib/ids.ts';
import { seededRandom } from '#lib/random.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { Traces } from './traces.ts';

t.test('a trace ends at its time or earlier, and a new one replaces it', async (t) => {
  const clock = new VirtualClock();
  const traces = new Traces(clock, new IdSource(seededRandom(1)));
  t.equal(traces.of('anna'), undefined);
  const first = traces.begin('anna', { duration: 60_000, traceId: 'mine' });
  t.equal(Date.parse(first.until), clock.now() + 60_000);
  t.match(traces.of('anna'), { enabled: true, traceId: 'mine' });
  t.equal(traces.of('berta'), undefined);
  await clock.advance(59_999);
  t.ok(traces.of('anna'));
  await clock.advance(1);
  t.equal(traces.of('anna'), undefined);
  const { traceId } = traces.begin('anna', { duration: 60_000, traceId: '' });
  t.match(traceId, /^[0-9a-f-]{36}$/);
  t.equal(traces.of('anna')?.traceId, traceId);
  traces.end('anna');
  t.equal(traces.of('anna'), undefined);
});
