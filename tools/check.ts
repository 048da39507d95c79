// `npm run check`: static checks: types, lint and format, unused files, exports and dependencies.

import { print, runTool } from './commands.ts';

const CHECKS: readonly (readonly [string, string, readonly string[]])[] = [
  ['types', 'tsc', ['--noEmit']],
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
