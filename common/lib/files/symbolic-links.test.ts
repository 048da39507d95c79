// Paths that lead to the same file.

import { linkSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { isSameFile } from './symbolic-links.ts';

t.test('two paths are compared by the file that they lead to', async (t) => {
  const folder = t.testdir({
    file: '',
    other: '',
    real: {},
    soft: t.fixture('symlink', 'file'),
    folder: t.fixture('symlink', 'real'),
    dangling: t.fixture('symlink', 'real/new'),
  });
  const at = (name: string) => join(folder, name);
  linkSync(at('file'), at('hard'));
  const cases: [one: string, other: string, isSame: boolean][] = [
    [at('file'), `${folder}/real/../file`, true],
    [at('file'), at('soft'), true],
    [at('file'), at('hard'), true],
    [at('file'), at('other'), false],
    [at('new'), at('new'), true],
    [at('real/new'), at('folder/new'), true],
    [at('real/new'), at('dangling'), true],
    [at('file/below'), at('file/below'), true],
    [at('nowhere/new'), at('elsewhere/new'), false],
    ['/dev/null', '/dev/null', false],
  ];
  for (const [one, other, isSame] of cases) t.equal(isSameFile(one, other), isSame, `${one} ${other}`);
});
