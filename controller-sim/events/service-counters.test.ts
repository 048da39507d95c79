// Counts dials and health checks per minute.

import t from 'tap';
import { VirtualClock } from '#lib/time/clock.ts';
import { ServiceCounters } from './service-counters.ts';

t.test('the counts of a minute are published as one event at its end', async (t) => {
  const clock = new VirtualClock(90_500);
  const published: Readonly<Record<string, unknown>>[] = [];
  const counters = new ServiceCounters(clock, (fields) => published.push(fields));
  const dialed = { type: 'service.dial.success', serviceId: 's', terminatorId: 't' } as const;
  counters.add(dialed);
  counters.add(dialed);
  counters.add({ type: 'service.health_check.failed', serviceId: 's', terminatorId: '' });
  await clock.advance(29_499);
  t.same(published, [], 'the minute is not over');
  await clock.advance(1);
  t.match(published, [
    {
      version: 2,
      event_type: 'service.dial.success',
      service_id: 's',
      terminator_id: 't',
      count: 2,
      interval_start_utc: 60,
      interval_length: 60,
    },
    { event_type: 'service.health_check.failed', terminator_id: '', count: 1 },
  ]);
  await clock.advance(600_000);
  t.equal(published.length, 2, 'nothing was counted');
  counters.add(dialed);
  counters.close();
  t.same(clock.timers(), []);
});
