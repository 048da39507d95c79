// Checks whether files are writable, without writing them.

import { chmodSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { WriteError, writeObstacle, writeProblem } from './writable.ts';

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

t.test('a failed write names its reason and the remedy for it', async (t) => {
  const systemError = (code: string) => Object.assign(new Error(`${code}: the system's text`), { code });
  const folder = process.cwd();
  const table = {
    ENOSPC: `the disk is full; free space on the disk of ${folder}`,
    EDQUOT: `the quota of this user is used up; free space in ${folder}, or raise the quota`,
    EROFS: `its file system is read-only; mount ${folder} writable`,
    EACCES: `permission denied; make ${folder} writable for this user`,
    ENOENT: `the folder ${folder} does not exist; create it`,
    ENOTDIR: `${folder} is not a folder; name a file in a folder`,
    EISDIR: 'it is a folder; name a file',
    EFBIG: 'its size reached the limit of this process or file system; remove the file, or raise the limit',
    EIO: "EIO: the system's text",
  };
  for (const [code, text] of Object.entries(table))
    t.equal(writeProblem('file', systemError(code)), `file cannot be written: ${text}`);
  const failed = new WriteError('file', systemError('ENOSPC'));
  t.equal(failed.code, 'ENOSPC');
  t.equal(writeProblem('other', failed), failed.message, 'the reason is not repeated');
});
