// Files that a killed process has left of a write. The tests of the files' owners cover the writes themselves.

import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { platform } from 'node:process';
import t from 'tap';
import { ENDED_WRITE } from '../../../test/support/programs/unfinished-write.ts';
import { removeUnfinished, syncFolder, temporarySuffix, writeFileAtomic } from './atomic-file.ts';

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
