// `npm run check`: static checks: types, lint and format, unused files, exports and dependencies.

import { runTool, say } from './commands.ts';

const CHECKS: readonly (readonly [string, string, readonly string[]])[] = [
  ['types', 'tsc', ['--noEmit']],
  ['lint and format', 'biome', ['check', '--error-on-warnings', '.']],
  ['unused code', 'knip', ['--no-progress']],
];

const failed: string[] = [];
for (const [name, tool, args] of CHECKS) {
  say(`check: ${name}`);
  if ((await runTool(tool, args)) !== 0) failed.push(name);
}
say(failed.length === 0 ? 'check: all well' : `check: failed: ${failed.join(', ')}`);
process.exitCode = failed.length === 0 ? 0 : 1;
