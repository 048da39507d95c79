// `npm test [-- FILE…]`: all tests, or those of some files. The last line tells how many passed and failed; before it stand the failures
// with their details and why other tests were skipped. In a terminal a table shows the progress; otherwise each file gets a line.

import { createWriteStream, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { finished } from 'node:stream/promises';
import { ROOT, runTool, say } from './commands.ts';
import { countIn, failuresIn, progressOf, skippedIn } from './tap-report.ts';
import { chooseTests, testFilesOf } from './test-files.ts';

/** tap compiles its plugins once after an installation, without one that it comes with and .taprc leaves out. */
const PLUGINS = join(ROOT, 'node_modules', '@tapjs', 'test', 'test-built', 'dist', 'esm', 'index.d.ts');
const LEFT_OUT = '@tapjs/typescript';
const REPORT = join(ROOT, '.tap', 'report.tap');

const WRONG_USE = 2;

process.stdout.once('error', () => process.exit(1)); // the reader left, as `head` does

const { args: chosen, problems } = chooseTests(process.argv.slice(2), testFilesOf(ROOT), ROOT);
if (problems.length > 0) {
  for (const problem of problems) process.stderr.write(`test: ${problem}\n`);
  process.exit(WRONG_USE);
}
if (!existsSync(PLUGINS) || readFileSync(PLUGINS, 'utf8').includes(LEFT_OUT)) await runTool('tap', ['build']);
mkdirSync(dirname(REPORT), { recursive: true });
rmSync(REPORT, { force: true });
const code = await runTests(chosen);
const report = existsSync(REPORT) ? readFileSync(REPORT, 'utf8') : '';
const { passed, failed } = countIn(report);
for (const reason of skippedIn(report)) say(`skipped: ${reason}`);
for (const { path, detail } of failuresIn(report)) {
  say(`failed: ${path.join(' > ')}`);
  // In a terminal, tap has printed the details itself.
  if (!process.stdout.isTTY) for (const line of detail) say(`  ${line}`);
}
say(`${passed} passed, ${failed} failed`);
process.exitCode = code === 0 && failed === 0 && passed > 0 ? 0 : 1;

async function runTests(args: readonly string[]): Promise<number> {
  if (process.stdout.isTTY) return runTool('tap', ['run', `--output-file=${REPORT}`, '--reporter=terse', ...args]);
  // With this reporter and an output file, tap writes every line twice: the report is written here.
  const report = createWriteStream(REPORT);
  const code = await runTool('tap', ['run', '--reporter=tap', ...args], {
    onLine: (line) => {
      report.write(`${line}\n`);
      const progress = progressOf(line);
      if (progress) say(progress);
    },
  });
  report.end();
  await finished(report);
  return code;
}
