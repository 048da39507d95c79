// Files that a killed process has left of a write. The tests of the files' owners cover the writes themselves.

import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { platform } from 'node:process';
import t from 'tap';
import { removeUnfinished, syncFolder, writeFileAtomic } from './atomic-file.ts';

t.test('only unfinished writes of the file are removed', async (t) => {
  const folder = t.testdir();
  const path = join(folder, 'record');
  await writeFileAtomic(path, 'content');
  const others = ['record', 'record.tmp', 'record.bak', 'record.0123456789ab.tmp.old', 'other.0123456789ab.tmp'];
  for (const name of [...others.slice(1), 'record.0123456789ab.tmp', 'record.ffffffffffff.tmp'])
    writeFileSync(join(folder, name), '');
  removeUnfinished(path);
  t.same(readdirSync(folder).sort(), others.sort());
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
