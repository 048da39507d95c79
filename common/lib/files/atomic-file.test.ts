// Files that a killed process has left of a write, and files of other users. The tests of the files' owners cover the
// writes themselves.

import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readdirSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { getuid, platform } from 'node:process';
import t from 'tap';
import { ENDED_WRITE } from '../../../test/support/programs/unfinished-write.ts';
import { openAppendStream } from './append-stream.ts';
import { claimPrivateFile, removeUnfinished, syncFolder, temporarySuffix, writeFileAtomic } from './atomic-file.ts';

/** Another user. */
const NOBODY = 65_534;

t.test('only unfinished writes of the file by ended processes are removed', async (t) => {
  const folder = t.testdir();
  const path = join(folder, 'record');
  await writeFileAtomic(path, 'content');
  const others = [
    'record',
    'record.tmp',
    'record.bak',
    `record.${ENDED_WRITE}.tmp.old`,
    `other.${ENDED_WRITE}.tmp`,
    `record.${temporarySuffix()}.tmp`, // of this process
    `record.${process.ppid}-01234567-0123456789ab.tmp`, // of a running process
  ];
  const sameProcessId = `record.${process.pid}-01234567-0123456789ab.tmp`; // of an earlier run of a container
  const unfinished = ['tmp', 'new', 'old', 'trial'].map((kind) => `record.${ENDED_WRITE}.${kind}`);
  for (const name of [...others.slice(1), ...unfinished, sameProcessId]) writeFileSync(join(folder, name), '');
  removeUnfinished(path);
  t.same(readdirSync(folder).sort(), others.sort());
});

t.test('a program that starts during a write does not disturb it', async (t) => {
  const path = join(t.testdir(), 'record');
  const writes = Array.from({ length: 20 }, (_, index) => writeFileAtomic(path, String(index)));
  const start = setInterval(() => removeUnfinished(path), 0);
  try {
    await t.resolves(Promise.all(writes));
  } finally {
    clearInterval(start);
  }
});

t.test('a missing folder has none', async (t) => {
  const folder = join(t.testdir(), 'missing');
  t.doesNotThrow(() => removeUnfinished(join(folder, 'record')));
  mkdirSync(folder);
  t.doesNotThrow(() => removeUnfinished(join(folder, 'record')));
});

t.test(
  'a file system that cannot flush folders does not fail a complete write',
  { skip: platform !== 'linux' },
  async (t) => {
    await t.resolves(syncFolder('/proc'));
    await t.rejects(syncFolder(join(t.testdir(), 'missing')), { code: 'ENOENT' });
  },
);

t.test(
  'a pipe of another user gets nothing',
  { skip: getuid?.() !== 0 && 'only root makes such a pipe' },
  async (t) => {
    const folder = t.testdir();
    const path = join(folder, 'ready.json');
    execFileSync('mkfifo', [path]);
    chownSync(path, NOBODY, NOBODY);
    const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    t.teardown(() => closeSync(reader));
    chmodSync(folder, 0o1777);
    await t.rejects(writeFileAtomic(path, 'secret'), { code: 'FILE_TAKEN', message: /another user/ });
    t.throws(() => openAppendStream(path), { code: 'FILE_TAKEN' });
  },
);

t.test('everybody loses the rights to a file with secrets; its group keeps them', (t) => {
  const path = join(t.testdir({ file: '' }), 'file');
  for (const [before, after] of [
    [0o666, 0o660],
    [0o644, 0o640],
    [0o600, 0o600],
  ] as const) {
    chmodSync(path, before);
    claimPrivateFile(path);
    t.equal(statSync(path).mode & 0o777, after);
  }
  t.end();
});

t.test(
  'a file that another user has put into a common folder is not taken',
  { skip: getuid?.() !== 0 && 'only root gives files away' },
  (t) => {
    const folder = t.testdir({ file: '' });
    const path = join(folder, 'file');
    chownSync(path, NOBODY, NOBODY);
    claimPrivateFile(path); // in a folder of this user, for example a volume
    chmodSync(folder, 0o1777);
    t.throws(() => claimPrivateFile(path), { code: 'FILE_TAKEN' });
    t.end();
  },
);

t.test('a pipe or a device keeps its rights', { skip: platform === 'win32' }, async (t) => {
  const pipe = join(t.testdir(), 'pipe');
  execFileSync('mkfifo', [pipe]);
  chmodSync(pipe, 0o666);
  claimPrivateFile(pipe);
  t.equal(statSync(pipe).mode & 0o777, 0o666);
});
