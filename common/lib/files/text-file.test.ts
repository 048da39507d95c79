// Files without an end, pipes, and files of the largest size.

import { execFileSync, spawn } from 'node:child_process';
import { closeSync, constants, openSync, writeFileSync, writeSync } from 'node:fs';
import { platform } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import t from 'tap';
import { readText, readTextFile, readTextFileSync } from './text-file.ts';

const MIB = 1024 * 1024;
const TOO_LARGE = { code: 'FILE_TOO_LARGE', message: 'it has more than 4 MiB' };

t.test('a file is read up to 4 MiB, by both functions', async (t) => {
  const folder = t.testdir({ small: 'grüße\n' });
  const small = join(folder, 'small');
  t.equal(readTextFileSync(small), 'grüße\n');
  t.equal(await readTextFile(small), 'grüße\n');
  const large = join(folder, 'large');
  writeFileSync(large, 'é'.repeat(2 * MIB));
  t.equal(readTextFileSync(large).length, 2 * MIB);
  t.equal((await readTextFile(large)).length, 2 * MIB);
  writeFileSync(large, 'x'.repeat(4 * MIB + 1));
  t.throws(() => readTextFileSync(large), TOO_LARGE);
  await t.rejects(readTextFile(large), TOO_LARGE);
  t.throws(() => readTextFileSync(join(folder, 'none')), { code: 'ENOENT' });
  await t.rejects(readTextFile(join(folder, 'none')), { code: 'ENOENT' });
  await t.rejects(readTextFile(folder), { code: 'EISDIR' });
  await t.rejects(readText(Readable.from(Array.from({ length: 5 }, () => 'x'.repeat(MIB)))), TOO_LARGE);
});

t.test('a device without an end is not read to its end', { skip: platform() !== 'linux' }, async (t) => {
  t.throws(() => readTextFileSync('/dev/zero'), TOO_LARGE);
  await t.rejects(readTextFile('/dev/zero'), TOO_LARGE);
});

t.test(
  'a named pipe without a writer, or whose writer stalls, is an error',
  { skip: platform() !== 'linux' },
  async (t) => {
    const pipe = join(t.testdir({}), 'pipe');
    execFileSync('mkfifo', [pipe]);
    const late = { code: 'PIPE_TIMEOUT', message: /^its writer did not end within/ };
    t.throws(() => readTextFileSync(pipe, MIB, 20), late);
    await t.rejects(readTextFile(pipe, MIB, 20), late);
    const writer = openSync(pipe, constants.O_RDWR);
    t.teardown(() => closeSync(writer));
    t.throws(() => readTextFileSync(pipe, MIB, 20), late);
    writeSync(writer, 'a part');
    await t.rejects(readTextFile(pipe, MIB, 20), late);
  },
);

t.test('a named pipe is read', { skip: platform() !== 'linux' }, async (t) => {
  const pipe = join(t.testdir({}), 'pipe');
  execFileSync('mkfifo', [pipe]);
  for (const read of [readTextFile, readTextFileSync]) {
    const writer = spawn('sh', ['-c', 'echo token > "$0"', pipe], { stdio: 'ignore' });
    t.equal(await read(pipe), 'token\n');
    await new Promise((resolve) => (writer.exitCode === null ? writer.once('exit', resolve) : resolve(0)));
  }
});
