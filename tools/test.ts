// `npm test [-- FILE…]`: all tests, or those of some files. The last line tells how many passed and failed; before it stands why others
// were skipped.

import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, runTool, say } from './commands.ts';

/** tap compiles its plugins once; what it makes is no part of the project. */
const BUILT = join(ROOT, '.tap', 'plugins', 'dist');
const REPORT = join(ROOT, '.tap', 'report.tap');

if (!existsSync(BUILT)) await runTool('tap', ['build']);
rmSync(REPORT, { force: true });
const code = await runTool('tap', ['run', '--reporter=terse', `--output-file=${REPORT}`, ...process.argv.slice(2)]);
const report = existsSync(REPORT) ? readFileSync(REPORT, 'utf8') : '';
const { passed, failed } = count(report);
for (const reason of skipped(report)) say(`skipped: ${reason}`);
for (const name of failures(report)) say(`failed: ${name}`);
say(`${passed} passed, ${failed} failed`);
process.exitCode = code === 0 && failed === 0 && passed > 0 ? 0 : 1;

/** Why some tests were not run: what they need is not there. */
function skipped(report: string): Set<string> {
  return new Set([...report.matchAll(/^ {4}ok \d+ .*# SKIP (.+)$/gm)].map(([, reason = '']) => reason));
}

/** Names of failed files and of the failed tests in them: not every reporter prints them. */
function failures(report: string): string[] {
  return [...report.matchAll(/^(?: {4})?not ok \d+ - (.+?)(?: # time=.*)?$/gm)].map(([, name = '']) => name);
}

/** A file is a point of the report, its tests stand one level below. A file that fails by itself counts as one failed test. */
function count(report: string): { passed: number; failed: number } {
  const tests = [...report.matchAll(/^ {4}(ok|not ok) \d+ /gm)].map((match) => match[1] === 'ok');
  const files = [...report.matchAll(/^(ok|not ok) \d+ /gm)].map((match) => match[1] === 'ok');
  const failedTests = tests.filter((ok) => !ok).length;
  return {
    passed: tests.length - failedTests,
    failed: failedTests === 0 ? files.filter((ok) => !ok).length : failedTests,
  };
}
