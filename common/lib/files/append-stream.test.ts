// Named pipes as log files: without a reader, with one, and with one that stalls or ends.

import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync, renameSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { LogFile } from '../log/log-file.ts';
import { VirtualClock } from '../time/clock.ts';

function makePipe(t: Test): string {
  const path = join(t.testdir(), 'pipe');
  execFileSync('mkfifo', [path]);
  return path;
}

const openReader = (path: string) => openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
const readerOf = (path: string) => new Socket({ fd: openReader(path), readable: true, writable: false });

t.test('a pipe without a reader is an error at once', async (t) => {
  const path = makePipe(t);
  const open = () => new LogFile(path, new VirtualClock(), () => undefined);
  t.throws(open, { message: `${path} is a named pipe without a reader; start its reader first` });
});

t.test('the reader of a pipe gets the lines; one that ends is reported, and a new one is found later', async (t) => {
  const path = makePipe(t);
  const clock = new VirtualClock();
  const complaints = Promise.withResolvers<Error>();
  const first = readerOf(path);
  const file = new LogFile(path, clock, complaints.resolve);
  file.write('one\n');
  t.equal(String(await once(first, 'data')), 'one\n');
  first.destroy();
  await once(first, 'close');
  file.write('lost\n');
  t.match(await complaints.promise, { code: 'EPIPE' });
  const second = readerOf(path);
  await clock.advance(60_000);
  file.write('two\n');
  t.equal(String(await once(second, 'data')), 'two\n');
  file.destroy();
  second.destroy();
});

t.test('a reader that stalls does not keep a closed log open', async (t) => {
  const path = makePipe(t);
  const reader = openReader(path);
  const file = new LogFile(path, new VirtualClock(), () => undefined);
  file.write('x'.repeat(1024 * 1024));
  t.ok(file.writableLength > 0, 'more than a pipe holds');
  file.destroy();
  closeSync(reader);
});

t.test('a line is written only once the renamed file before it has its lines', async (t) => {
  const path = makePipe(t);
  const reader = openReader(path);
  const file = new LogFile(path, new VirtualClock(), () => undefined);
  const earlier = 'x'.repeat(1024 * 1024);
  file.write(earlier);
  renameSync(path, `${path}.1`);
  file.reopen();
  let read = 0;
  let isWritten = false;
  const written = new Promise<void>((resolve) => file.write('later\n', resolve)).then(() => (isWritten = true));
  while (file.writableLength > 0) await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) => setImmediate(resolve));
  t.notOk(isWritten, 'the later line is in its file, the earlier ones are not');
  const first = new Socket({ fd: reader, readable: true, writable: false });
  first.on('data', (data: Buffer) => (read += data.length));
  await once(first, 'end');
  t.equal(read, earlier.length);
  await written;
  file.destroy();
});
