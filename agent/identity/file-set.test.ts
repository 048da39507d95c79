// Replacing files together.

import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import promises, { type FileHandle, open } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { ENDED_WRITE } from '../../test/support/programs/unfinished-write.ts';
import { proveReplaceable, replaceFiles } from './file-set.ts';

const folder = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));

t.test('new files are flushed to disk with their folders before the old ones are removed', async (t) => {
  const other = join(folder, 'other');
  mkdirSync(other);
  const paths = [join(folder, 'a.cert'), join(folder, 'b.cert'), join(other, 'c.cert')];
  for (const path of paths) writeFileSync(path, 'old');
  const flushed: string[] = [];
  const probe = await open(folder);
  const prototype = Object.getPrototypeOf(probe) as FileHandle;
  await probe.close();
  const { sync } = prototype;
  t.teardown(() => Object.assign(prototype, { sync }));
  prototype.sync = async function (this: FileHandle) {
    const isFolder = (await this.stat()).isDirectory();
    const contents = paths.map((path) => readFileSync(path, 'utf8'));
    const isKept = [folder, other].some((each) => readdirSync(each).some((name) => name.endsWith('.old')));
    flushed.push(isFolder ? `folder, ${contents}, old files ${isKept ? 'kept' : 'removed'}` : 'file');
    await sync.call(this);
  };
  await replaceFiles(
    paths.map((path) => ({ path, content: 'new' })),
    async () => undefined,
  );
  const after = 'folder, new,new,new, old files kept';
  t.same(flushed, ['file', 'file', 'file', after, after]);
  t.same(readdirSync(folder).sort(), ['a.cert', 'b.cert', 'other']);
});

t.test('symbolic links to the files stay, also to files that do not exist yet', async (t) => {
  const volume = join(folder, 'volume');
  mkdirSync(volume);
  const path = join(folder, 'linked.cert');
  symlinkSync('volume/router.cert', path);
  for (const content of ['first', 'second']) {
    await proveReplaceable([path]);
    await replaceFiles([{ path, content }], async () => undefined);
    t.equal(readFileSync(join(volume, 'router.cert'), 'utf8'), content);
    t.same(readdirSync(volume), ['router.cert']);
    t.ok(lstatSync(path).isSymbolicLink());
  }
});

t.test('files are replaced, and restored, where the system permits no hard links', async (t) => {
  const { link, rename } = promises;
  const patch = (functions: Partial<typeof promises>) => {
    Object.assign(promises, functions);
    syncBuiltinESMExports();
  };
  t.teardown(() => patch({ link, rename }));
  const paths = [join(folder, 'one.cert'), join(folder, 'two.cert')];
  for (const path of paths) writeFileSync(path, 'old', { mode: 0o640 });
  const files = paths.map((path) => ({ path, content: 'new' }));
  const contents = () => paths.map((path) => readFileSync(path, 'utf8'));
  const before = readdirSync(folder).sort();
  // A file of another user (fs.protected_hardlinks), or a file system without links.
  patch({ link: () => Promise.reject(Object.assign(new Error('not permitted'), { code: 'EPERM' })) });
  await proveReplaceable(paths);
  patch({
    rename: (from, to) => (to === paths[1] ? Promise.reject(new Error('read-only file system')) : rename(from, to)),
  });
  await t.rejects(
    replaceFiles(files, async () => undefined),
    { code: 'FILES' },
  );
  t.same(contents(), ['old', 'old']);
  patch({ rename });
  await replaceFiles(files, async () => undefined);
  t.same(contents(), ['new', 'new']);
  t.same(readdirSync(folder).sort(), before);
});

t.test('files that a killed router left are kept until the files are replaced', async (t) => {
  const home = join(folder, 'killed');
  mkdirSync(home);
  const path = join(home, 'router.cert');
  const left = ['new', 'old', 'trial'].map((kind) => `router.cert.${ENDED_WRITE}.${kind}`);
  for (const name of ['router.cert', 'other.old', ...left]) writeFileSync(join(home, name), 'x');
  const reject = async () => {
    throw new Error('no');
  };
  await t.rejects(replaceFiles([{ path, content: 'y' }], reject));
  t.same(readdirSync(home).sort(), ['other.old', 'router.cert', ...left].sort());
  await replaceFiles([{ path, content: 'y' }], async () => undefined);
  t.same(readdirSync(home).sort(), ['other.old', 'router.cert']);
});
