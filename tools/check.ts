// `npm run check`: static checks: types, lint and format, unused files, exports and dependencies.

import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { writeObstacle } from '../common/lib/files/writable.ts';
import { print, ROOT, runTool } from './commands.ts';

/** State of the last check: the compiler then checks only the changed files. */
const REMEMBERED = join(ROOT, 'node_modules', '.cache', 'types.tsbuildinfo');
/** The default of the compiler. */
const MAX_CHECKERS = 4;
/** Each checker of the compiler infers the types that it needs: four need twice the processor time of one. */
const CHECKERS = Math.max(1, Math.min(MAX_CHECKERS, Math.floor(availableParallelism() / 2)));

const remember =
  writeObstacle(REMEMBERED, { makesFolder: true }) === undefined
    ? ['--incremental', '--tsBuildInfoFile', REMEMBERED]
    : [];

const CHECKS: readonly (readonly [string, string, readonly string[]])[] = [
  ['types', 'tsc', ['--noEmit', '--checkers', String(CHECKERS), ...remember]],
  ['types of the dashboard', 'tsc', ['--project', 'controller-sim/dashboard/page']],
  ['lint and format', 'biome', ['check', '--error-on-warnings', '.']],
  ['unused code', 'knip', ['--no-progress']],
];

const failed: string[] = [];
for (const [name, tool, args] of CHECKS) {
  print(`check: ${name}`);
  if ((await runTool(tool, args)) !== 0) failed.push(name);
}
print(failed.length === 0 ? 'check: all well' : `check: failed: ${failed.join(', ')}`);
process.exitCode = failed.length === 0 ? 0 : 1;
