// Intervals of the traffic of circuits: their times, sums and tags.

import t from 'tap';
import { VirtualClock } from '#lib/time/clock.ts';
import { NO_TAGS, UsageRecorder } from './usage.ts';

t.test('an interval begins when the one before ends', async (t) => {
  const clock = new VirtualClock();
  const usage = new UsageRecorder(clock);
  const [now, monotonic] = [clock.now(), clock.monotonic()];
  await clock.advance(60_000);
  t.match(usage.endInterval(), { since: now, begun: monotonic });
  await clock.advance(5_000);
  t.match(usage.endInterval(), { since: now + 60_000, begun: monotonic + 60_000 });
  t.match(usage.endInterval(), { since: now + 65_000, begun: monotonic + 65_000 });
});

t.test('both directions of each side are added up, with the first tags of the circuit', async (t) => {
  const usage = new UsageRecorder(new VirtualClock());
  usage.addSource(() => usage.add('a', 'fabric', { rx: 1, tx: 2 }));
  usage.add('a', 'ingress', { rx: 10, tx: 0 });
  usage.add('a', 'ingress', { rx: 10, tx: 5 }, { serviceId: 's' });
  usage.add('a', 'egress', { rx: 0, tx: 7 }, { serviceId: 'other' });
  usage.add('b', 'egress', { rx: 0, tx: 0 });
  const own = { 'ingress.rx': 20, 'ingress.tx': 5, 'egress.rx': 0, 'egress.tx': 7 };
  const shown = () => [...usage.endInterval().circuits].map(([id, each]) => ({ id, ...each }));
  t.same(shown(), [{ id: 'a', ...own, 'fabric.rx': 1, 'fabric.tx': 2, tags: { serviceId: 's' } }]);
  const nothing = { 'ingress.rx': 0, 'ingress.tx': 0, 'egress.rx': 0, 'egress.tx': 0 };
  t.same(shown(), [{ id: 'a', ...nothing, 'fabric.rx': 1, 'fabric.tx': 2, tags: NO_TAGS }], 'the source only');
});

t.test('circuits with equal tags share one object', async (t) => {
  const usage = new UsageRecorder(new VirtualClock());
  for (const id of ['a', 'b']) usage.add(id, 'egress', { rx: 1, tx: 0 }, { serviceId: 's' });
  usage.add('c', 'egress', { rx: 1, tx: 0 }, { serviceId: 'other' });
  const [a, b, c] = [...usage.endInterval().circuits.values()].map(({ tags }) => tags);
  t.equal(a, b);
  t.same(c, { serviceId: 'other' });
});
