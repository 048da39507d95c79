// The check whether a user can execute a program, as the user `nobody`.

import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { executionProblem, runProblem, userId } from './executable.ts';

const NOBODY = { user: 'nobody', group: undefined, supplementaryGroups: [] };
const canTry = process.getuid?.() === 0 && spawnSync('setpriv', ['--version']).status === 0;
const options = { skip: !canTry && 'only root tries programs as another user' };

t.test('each obstacle on the way to a program is named', options, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'edgeweave-executable-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  chmodSync(folder, 0o755);
  const inner = join(folder, 'inner');
  mkdirSync(inner, { mode: 0o755 });
  const program = join(inner, 'program');
  const script = join(inner, 'script');
  writeFileSync(program, '#!/bin/sh\necho "$@"; [ "$1" != fail ] || { echo "it needs more" >&2; exit 3; }\n', {
    mode: 0o755,
  });
  writeFileSync(script, '', { mode: 0o644 });
  const problem = () => executionProblem(NOBODY, [program, script]);
  t.equal(problem(), undefined);
  t.equal(runProblem(NOBODY, [program]), undefined);
  t.match(runProblem(NOBODY, [program, 'fail']), /program fail does not run as nobody: it needs more$/);

  chmodSync(script, 0o600);
  t.equal(problem(), `nobody may not read ${script}`);
  chmodSync(script, 0o644);
  chmodSync(program, 0o744);
  t.equal(problem(), `nobody may not execute ${program}, or it does not exist`);
  chmodSync(program, 0o755);
  chmodSync(inner, 0o700);
  t.equal(problem(), `nobody may not enter ${inner}`);
  const link = join(folder, 'link');
  symlinkSync(program, link);
  t.equal(executionProblem(NOBODY, [link]), `nobody may not enter ${inner}`, 'the folder behind a symbolic link');
  t.equal(
    executionProblem(NOBODY, [join(folder, 'missing')]),
    `nobody may not execute ${folder}/missing, or it does not exist`,
  );

  const group = 54_321;
  chownSync(inner, 0, group);
  chmodSync(inner, 0o710);
  t.equal(problem(), `nobody may not enter ${inner}`);
  t.equal(executionProblem({ ...NOBODY, supplementaryGroups: [String(group)] }, [program]), undefined);
  t.equal(executionProblem({ ...NOBODY, group: String(group) }, [program]), undefined);
  t.equal(executionProblem({ ...NOBODY, user: undefined }, [program]), undefined, 'without a user, root runs it');
});

t.test('a user who does not exist has no id', async (t) => {
  t.equal(userId('no-such-user'), undefined);
  t.equal(userId('root'), 0);
});
