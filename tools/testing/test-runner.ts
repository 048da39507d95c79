// Runs groups of test files, each group in a separate process and some in parallel. `tap run` has a process per file
// and hooks itself into every process that a test starts: this takes twice the processor time in total.

import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { ROOT } from '../commands.ts';

export interface TestRun {
  /** In starting order. The files of a group share a process; paths are relative to the project's root. */
  readonly groups: readonly (readonly string[])[];
  /** Number of parallel groups. */
  readonly jobs: number;
  /** Seconds for a file, or in a group for each test, unless they set their own limit. */
  readonly timeout: number;
  /** Runs only tests whose name matches one of these patterns. */
  readonly grep: readonly string[];
  /** Whether the run stops after the first failing file. */
  readonly bail: boolean;
  /** Whether to run additional, broader tests. */
  readonly thorough: boolean;
  /** Whether to run the tests of what a release ships, too. */
  readonly release: boolean;
}

export interface FileResult {
  readonly file: string;
  readonly isOk: boolean;
  /** Exit code or signal of its process. */
  readonly exit: number | NodeJS.Signals;
  readonly milliseconds: number;
  /** TAP, as the file wrote it to stdout. */
  readonly output: string;
}

/** Characters of one file's output that are kept: enough for a report, but not for the output of an endless loop. */
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;
/** Milliseconds after which a group is killed. Tests end themselves long before; an endless loop cannot. */
const MAX_GROUP_MS = 900_000;
/** Milliseconds for the last output of a group. */
const LAST_OUTPUT = 2_000;
/** Milliseconds for a process to end after its report. */
const LAST_CLEANUP = 10_000;
/** The last line of a complete report. */
const REPORT_END = /\n# time=[\d.]+ms\n$/;
/** Characters that contain it. */
const LAST_LINE = 50;
/** Precedes the path of a file in the comment before its tests. */
export const FILE_MARK = 'tests of ';
const GROUP_PROGRAM = join(ROOT, 'tools/testing', 'test-group.ts');
const TEST_END = join(ROOT, 'tools/testing', 'test-end.mjs');

/** Runs the groups and reports each file's result as it completes. */
export async function runTestFiles(run: TestRun, onResult: (result: FileResult) => void): Promise<void> {
  const waiting = [...run.groups];
  const worker = async () => {
    for (let group = waiting.shift(); group !== undefined; group = waiting.shift())
      for (const result of await runGroup(group, run)) {
        if (!result.isOk && run.bail) waiting.length = 0;
        onResult(result);
      }
  };
  await Promise.all(Array.from({ length: run.jobs }, worker));
}

async function runGroup(files: readonly string[], run: TestRun): Promise<FileResult[]> {
  const [first = ''] = files;
  if (files.length === 1) return [{ file: first, ...(await runProcess([first], {}, run)) }];
  const name = first.replaceAll(/\W+/g, '-');
  return resultsOf(files, await runProcess([GROUP_PROGRAM, name], { TEST_FILES: files.join('\n') }, run));
}

type ProcessResult = Omit<FileResult, 'file'>;

function runProcess(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  { timeout, grep, thorough, release }: TestRun,
): Promise<ProcessResult> {
  const start = performance.now();
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--import', TEST_END, ...args], {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'inherit'],
      env: {
        ...process.env,
        ...environment,
        TAP_TIMEOUT: String(timeout),
        ...(grep.length > 0 && { TAP_GREP: grep.join('\n') }),
        ...(thorough && { TEST_THOROUGH: '1' }),
        ...(release && { TEST_RELEASE: '1' }),
        // Programs that a test starts end with the runner, even if both are killed; so does the test (test-end.mjs).
        EDGEWEAVE_EXIT_WITH_PARENT: String(process.pid),
      },
    });
    // A reader that closes the pipe (`npm test | head`) ends this process; no test must continue unnoticed.
    const stop = () => void child.kill();
    process.once('exit', stop);
    const killer = setTimeout(() => child.kill('SIGKILL'), MAX_GROUP_MS);
    let output = '';
    let isStuck = false;
    let cleanup: NodeJS.Timeout | undefined;
    const kill = () => {
      isStuck = true;
      child.kill('SIGKILL');
    };
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (output.length < MAX_OUTPUT_BYTES) output += text;
      // tap ends its report when nothing keeps the process. Node can still spin in its own cleanup then, for a request
      // of a socket that was closed during a write (see `common/lib/process/end-process.ts`). The report is the result.
      clearTimeout(cleanup);
      if (REPORT_END.test(output.slice(-LAST_LINE))) cleanup = setTimeout(kill, LAST_CLEANUP);
    });
    child.once('error', reject);
    // Processes that a test left behind can keep its output open.
    child.once('exit', () => setTimeout(() => child.stdout.destroy(), LAST_OUTPUT).unref());
    child.once('close', (code, signal) => {
      clearTimeout(killer);
      clearTimeout(cleanup);
      process.off('exit', stop);
      const exit = code ?? (isStuck ? Number(/^not ok /m.test(output)) : (signal ?? 'SIGKILL'));
      resolve({ isOk: exit === 0, exit, milliseconds: performance.now() - start, output });
    });
  });
}

/**
 * The result of each file of a group. If the process ended early, the file whose tests were running fails with its exit
 * code, and so do the files after it.
 */
function resultsOf(files: readonly string[], { isOk, exit, output }: ProcessResult): FileResult[] {
  const parts = output.split(new RegExp(`^# ${FILE_MARK}(.*)$`, 'm'));
  const reports = new Map<string, string>();
  for (let at = 1; at < parts.length; at += 2) reports.set(parts[at] ?? '', parts[at + 1] ?? '');
  const results = files.map((file) => {
    const report = reports.get(file) ?? '';
    const times = [...report.matchAll(/^(?:not )?ok .*# time=([\d.]+)ms$/gm)].map(([, time]) => Number(time));
    const milliseconds = times.reduce((sum, time) => sum + time, 0);
    return { file, hasFailed: /^ *not ok /m.test(report), milliseconds, output: renumbered(report) };
  });
  const isExplained = results.some(({ hasFailed }) => hasFailed);
  const ended = files.findLastIndex((file) => reports.has(file));
  return results.map(({ hasFailed, ...result }, index) => {
    const isLost = !isOk && index >= ended && (index > ended || !isExplained);
    return { ...result, isOk: !hasFailed && !isLost, exit: isOk || isLost ? exit : Number(hasFailed) };
  });
}

/** The points of one file in a report of several, as a report of their own: from 1, with their plan. */
function renumbered(report: string): string {
  let count = 0;
  const lines = report.split('\n').filter((line) => line !== '' && !/^(?:1\.\.\d+$|# \{|# time=)/.test(line));
  const points = lines.map((line) => line.replace(/^(ok|not ok) \d+/, (_, state: string) => `${state} ${++count}`));
  return [...points, `1..${count}`, ''].join('\n');
}

/** The results as one TAP report: a file is a point, its tests are one level below. */
export function reportOf(results: readonly FileResult[]): string {
  const points = results.map(({ file, isOk, exit, milliseconds, output }, index) => {
    const lines = output.split('\n').filter((line) => line !== '' && !line.startsWith('TAP version'));
    const point = `${isOk ? 'ok' : 'not ok'} ${index + 1} - ${file} # time=${milliseconds.toFixed(0)}ms`;
    const detail = isOk ? [] : ['  ---', `  exit: ${exit}`, '  ...'];
    return [`# Subtest: ${file}`, ...lines.map((line) => `    ${line}`), point, ...detail].join('\n');
  });
  return ['TAP version 14', ...points, `1..${results.length}`, ''].join('\n');
}
