// A log file that is renamed, becomes unwritable, and recovers.

import { existsSync, mkdirSync, readFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { VirtualClock } from '../time/clock.ts';
import { DaemonLog } from './daemon-log.ts';
import { LogFile } from './log-file.ts';

const written = (file: LogFile, text: string) => new Promise<void>((resolve) => void file.write(text, resolve));

t.test('a renamed file keeps its lines, and later lines go to a new file after reopen', async (t) => {
  const path = join(t.testdir(), 'router.log');
  const clock = new VirtualClock(); // which never ends the time for the last lines, however slow the disk is
  const daemonLog = new DaemonLog({ level: 'info', format: 'json', clock, file: path });
  daemonLog.log.info({}, 'one');
  renameSync(path, `${path}.1`);
  daemonLog.log.info({}, 'two');
  daemonLog.reopen();
  daemonLog.log.info({}, 'three');
  await daemonLog.close();
  const messages = (file: string) =>
    readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).msg);
  t.same(messages(`${path}.1`), ['one', 'two']);
  t.same(messages(path), ['three']);
  t.equal(statSync(path).mode & 0o777, 0o600);
});

t.test('an unopenable file is an error at the start; later the old one stays in use', async (t) => {
  const folder = t.testdir();
  const path = join(folder, 'sub', 'router.log');
  const clock = new VirtualClock();
  t.throws(() => new LogFile(path, clock, () => undefined), { code: 'ENOENT' });
  mkdirSync(join(folder, 'sub'));
  const file = new LogFile(path, clock, () => undefined);
  renameSync(join(folder, 'sub'), join(folder, 'moved'));
  t.throws(() => file.reopen(), { code: 'ENOENT' });
  await written(file, 'still here\n');
  t.equal(readFileSync(join(folder, 'moved', 'router.log'), 'utf8'), 'still here\n');
  file.destroy();
});

const skip = existsSync('/dev/full') ? false : 'there is no /dev/full';
t.test('an unwritable file is reported and retried', { skip }, async (t) => {
  const clock = new VirtualClock();
  const complaints: Error[] = [];
  const file = new LogFile('/dev/full', clock, (error) => complaints.push(error));
  let drained = 0;
  file.on('drain', () => drained++);
  file.write('lost\n');
  while (complaints.length === 0) await new Promise((resolve) => setImmediate(resolve));
  t.match(complaints, [{ code: 'ENOSPC' }]);
  t.equal(file.writableLength, Number.POSITIVE_INFINITY, 'further lines do not fit, and are counted');
  await clock.advance(60_000);
  t.equal(drained, 1, 'it is open again');
  file.write('lost\n');
  while (complaints.length === 1) await new Promise((resolve) => setImmediate(resolve));
  t.same(clock.timers(), ['log file']);
  file.reopen();
  t.same([clock.timers(), drained], [[], 2], 'it is open again, and is not opened once more');
  file.destroy();
  t.same(clock.timers(), []);
});
