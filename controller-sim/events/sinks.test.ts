// Files of events that cannot be written.

import { existsSync } from 'node:fs';
import t from 'tap';
import { SystemClock } from '#lib/clock.ts';
import { createLog, silentLog } from '#lib/log.ts';
import { Events, eventOf } from './events.ts';
import { openSink } from './sinks.ts';

const skip = !existsSync('/dev/full');
t.test('a full disk ends the file of events, and the log names the file and the remedy', { skip }, async (t) => {
  const clock = new SystemClock();
  const events = new Events(silentLog);
  const logged = Promise.withResolvers<string>();
  const log = createLog({ write: logged.resolve });
  await using _sink = await openSink(events, { file: '/dev/full', namespaces: [] }, { log, clock });
  events.emit(eventOf({ clock, controllerId: 'ctrl' }, 'router', {}));
  const line = JSON.parse(await logged.promise);
  t.match(line, { level: 'error', file: '/dev/full', error: /ENOSPC/ });
  t.match(line.msg, 'no further events are written to the file: repair it and restart the simulator');
});
