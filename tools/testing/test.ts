// `npm test [-- FILE…] [-- OPTION…]`: runs all tests, or those of some files, and prints a line per completed file. At
// the end it prints the skipped tests by their reasons, the failures with their details, and the number of passed,
// failed and skipped tests. A reason that this machine does not explain fails the run.

import { mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { needFolder, print, ROOT } from '../commands.ts';
import { thisMachine, unexplained } from './skips.ts';
import { resumeStopped } from './stopped-programs.ts';
import { countIn, failuresIn, progressOf, skippedIn } from './tap-report.ts';
import { chooseTests, groupsOf, testFilesOf } from './test-files.ts';
import { type FileResult, reportOf, runTestFiles } from './test-runner.ts';

const REPORT = join(ROOT, '.tap', 'report.tap');
/** Seconds: a file that takes 45 seconds may take three times as long on a busy machine. */
const TIMEOUT = '300';
/** Tests wait for timers and other processes about half of their time. */
const JOBS = String(availableParallelism() + 3);
const OPTIONS = {
  grep: { type: 'string', short: 'g', multiple: true, default: [] as string[] },
  bail: { type: 'boolean', short: 'b', default: false },
  jobs: { type: 'string', short: 'j', default: JOBS },
  timeout: { type: 'string', short: 't', default: TIMEOUT },
  thorough: { type: 'boolean', default: false },
  release: { type: 'boolean', default: false },
} satisfies ParseArgsOptionsConfig;

const WRONG_USE = 2;

process.stdout.once('error', () => process.exit(1)); // the reader closed the pipe, as `head` does
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted(signal));
process.once('exit', () => resumeStopped(process.pid));

const { values, positionals } = parsed();
const { files, problems } = chooseTests(positionals, testFilesOf(ROOT), ROOT);
for (const name of ['jobs', 'timeout'] as const)
  if (!/^[1-9]\d{0,4}$/.test(values[name]))
    problems.push(`--${name} must be a number of at least 1, not "${values[name]}"`);
if (problems.length > 0) exitWrongUse(problems);

needFolder(dirname(REPORT));
const results: FileResult[] = [];
await runTestFiles(
  {
    ...values,
    thorough: values.thorough || values.release,
    groups: groupsOf(files),
    jobs: Number(values.jobs),
    timeout: Number(values.timeout),
  },
  (result) => {
    results.push(result);
    print(progressOf(result));
  },
);
const { passed, failed, skipped, unexplained: unexplainedSkips } = summarize();
const hasRun = passed + skipped > 0 && unexplainedSkips.length === 0;
process.exitCode = results.every(({ isOk }) => isOk) && failed === 0 && hasRun ? 0 : 1;

/** The results until now are the result of an interrupted run. */
function interrupted(signal: NodeJS.Signals): void {
  print(`interrupted by ${signal}: ${files.length - results.length} of ${files.length} files have no result`);
  summarize();
  process.exit(1);
}

function summarize() {
  const report = reportOf(results);
  mkdirSync(dirname(REPORT), { recursive: true });
  writeFileSync(REPORT, report);
  const skips = skippedIn(report);
  if (skips.size > 0) print('skipped tests, by reason:');
  for (const [reason, count] of skips) print(`${String(count).padStart(6)}  ${reason || '(none given)'}`);
  const reasons = unexplained(skips.keys(), thisMachine(values));
  for (const reason of reasons)
    print(`failed: tests were skipped for a reason that this machine does not explain: ${reason || 'none'}`);
  for (const { path, detail } of failuresIn(report)) {
    print(`failed: ${path.join(' > ')}`);
    for (const line of detail) print(`  ${line}`);
  }
  const found = countIn(report);
  print(`${found.passed} passed, ${found.failed} failed${found.skipped > 0 ? `, ${found.skipped} skipped` : ''}`);
  return { ...found, unexplained: reasons };
}

function parsed() {
  try {
    return parseArgs({ options: OPTIONS, allowPositionals: true });
  } catch (error) {
    return exitWrongUse([(error as Error).message]);
  }
}

function exitWrongUse(reasons: readonly string[]): never {
  for (const reason of reasons) process.stderr.write(`test: ${reason}\n`);
  process.exit(WRONG_USE);
}
