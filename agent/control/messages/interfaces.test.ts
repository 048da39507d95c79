// Reports of network interfaces to the controller.

import t from 'tap';
import { silentLog } from '#lib/log/log.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { InterfaceReporter } from './interfaces.ts';

t.test('interfaces are reported at the connection, and unchanged ones only after the least interval', async (t) => {
  const clock = new VirtualClock();
  let reports = 0;
  let connected: () => void = () => undefined;
  const leader = { requestResult: async () => void reports++ };
  const controllers = {
    all: [{ version: { version: 'v1.7.0' } }],
    leader,
    onConnect: (listener: () => void) => {
      connected = listener;
    },
  };
  const init = { disabled: false, checkInterval: 1_000, minReportInterval: 5_000 };
  const reporter = new InterfaceReporter({ controllers, clock, log: silentLog }, init);
  connected();
  await clock.advance(0);
  t.equal(reports, 1);
  await clock.advance(4_000);
  t.equal(reports, 1, 'they are the same');
  await clock.advance(1_000);
  t.equal(reports, 2);
  controllers.all = [{ version: { version: 'v1.6.2' } }];
  await clock.advance(20_000);
  t.equal(reports, 2, 'an earlier controller does not know the message');
  reporter.close();
  t.same(clock.timers(), []);
});
