// Checks whether files are writable, without writing them.

import { chmodSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { writeObstacle, writeRemedy } from './writable.ts';

t.test('the obstacle is described, and nothing is created', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
  const at = (...names: string[]) => join(folder, ...names);
  writeFileSync(at('file'), '');
  mkdirSync(at('locked'));
  writeFileSync(at('locked', 'file'), '');
  const before = readdirSync(folder, { recursive: true });
  for (const isReplaced of [false, true]) {
    t.equal(writeObstacle(at('file'), { isReplaced }), undefined);
    t.equal(writeObstacle(at('new'), { isReplaced }), undefined);
    t.match(writeObstacle(folder, { isReplaced }), /is a folder; name a file$/);
    t.match(writeObstacle(at('nowhere', 'x'), { isReplaced }), /^the folder .*nowhere does not exist; create it$/);
    t.match(writeObstacle(at('file', 'x'), { isReplaced }), /file is not a folder$/);
    t.match(writeObstacle(at('file', 'x', 'y'), { isReplaced }), /does not exist; create it$/);
  }
  t.equal(writeObstacle(at('a', 'b', 'c'), { makesFolder: true }), undefined);
  t.match(writeObstacle(at('file', 'b', 'c'), { makesFolder: true }), /file is not a folder$/);
  t.equal(writeObstacle('/dev/null'), undefined);
  if (process.getuid?.() !== 0) {
    chmodSync(at('locked', 'file'), 0o400);
    chmodSync(at('locked'), 0o500);
    t.match(writeObstacle(at('locked', 'file')), /file cannot be written by this user: permission denied$/);
    t.match(
      writeObstacle(at('locked', 'file'), { isReplaced: true }),
      /locked cannot be written by this user: permission denied$/,
    );
    t.match(writeObstacle(at('locked', 'new')), /locked cannot be written by this user: permission denied$/);
    chmodSync(at('locked'), 0o700);
  }
  t.same(readdirSync(folder, { recursive: true }), before);
});

t.test('a relative path is described with its folder', async (t) => {
  t.match(writeObstacle('nowhere/file'), `the folder ${process.cwd()}/nowhere does not exist`);
});

t.test('the remedy of a failed write names its cause', async (t) => {
  const remedy = (code: string) => writeRemedy('file', Object.assign(new Error(code), { code }));
  const folder = process.cwd();
  t.equal(remedy('ENOSPC'), `free space on the disk of ${folder}`);
  t.equal(remedy('EDQUOT'), `free space in ${folder}, or raise the quota of this user`);
  t.equal(remedy('EROFS'), `mount ${folder} writable`);
  t.equal(remedy('EACCES'), `make ${folder} writable for this user`);
});
