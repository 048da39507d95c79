// Files of events that cannot be written.

import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createLog, silentLog } from '#lib/log/log.ts';
import { SystemClock } from '#lib/time/clock.ts';
import { Events, eventOf } from './events.ts';
import { openSink } from './sinks.ts';

const skip = !existsSync('/dev/full');
t.test('events for a full disk are dropped, and the log names the file', { skip }, async (t) => {
  const clock = new SystemClock();
  const events = new Events(silentLog);
  const logged = Promise.withResolvers<string>();
  const log = createLog({ write: logged.resolve });
  await using _sink = openSink(events, { file: '/dev/full', namespaces: [] }, { log, clock });
  events.emit(eventOf({ clock, controllerId: 'ctrl' }, 'router', {}));
  const line = JSON.parse(await logged.promise);
  t.match(line, { level: 'error', file: '/dev/full', error: /the disk is full; free space/ });
  t.match(line.msg, 'events are dropped: the file cannot be written, and is retried every minute');
});

t.test('a closed file is not opened again', async (t) => {
  const file = join(t.testdir(), 'events');
  const clock = new SystemClock();
  const sink = openSink(new Events(silentLog), { file, namespaces: [] }, { log: silentLog, clock });
  rmSync(file);
  sink.reopen();
  t.ok(existsSync(file));
  await sink[Symbol.asyncDispose]();
  rmSync(file);
  sink.reopen();
  t.notOk(existsSync(file));
});
