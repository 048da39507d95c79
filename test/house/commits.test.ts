// The titles of commits, where a checkout with history exists: at most 70 characters that begin with a room.

import { execFileSync } from 'node:child_process';
import t from 'tap';
import { ROOT } from '../../tools/commands.ts';

/** Titles before this commit follow no rule. */
const SINCE = 'fca12bfb';
const MAX_TITLE_LENGTH = 70;
/** `link: …` */
const TITLE = /^[a-z0-9-]+: \S/;

function isValid(title: string): boolean {
  return title.length <= MAX_TITLE_LENGTH && TITLE.test(title);
}

/** Undefined without git, and in copies and clones without this part of the history. */
function titles(): string[] | undefined {
  try {
    const args = ['log', '--no-merges', '--format=%s', `${SINCE}..HEAD`];
    return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: 'pipe' }).split('\n').slice(0, -1);
  } catch {
    return undefined;
  }
}

t.test('titles without a room and long titles are found', async (t) => {
  t.ok(isValid('link: close the channel once'));
  t.notOk(isValid('Close the channel once'));
  t.notOk(isValid(`link: ${'x'.repeat(MAX_TITLE_LENGTH)}`));
});

const found = titles();

t.test('commits begin with a room, and are short', { skip: found ? false : 'no history here' }, async (t) => {
  t.same(
    found?.filter((title) => !isValid(title)),
    [],
  );
});
