// Runs test files, each in a separate process and some in parallel. `tap run` does that too, but hooks itself into
// every process that a test starts. That takes a third more time in total (0.3 s per file, 0.1 s per child).

import { spawn } from 'node:child_process';
import { ROOT } from './commands.ts';

export interface TestRun {
  /** Relative to the project's root, in starting order. */
  readonly files: readonly string[];
  /** Number of parallel files. */
  readonly jobs: number;
  /** Seconds for one file, unless it sets its own limit. */
  readonly timeout: number;
  /** Runs only tests whose name matches one of these patterns. */
  readonly grep: readonly string[];
  /** Whether the run stops after the first failing file. */
  readonly bail: boolean;
  /** Whether to run additional, broader tests. */
  readonly thorough: boolean;
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
const LONGEST_OUTPUT = 16 * 1024 * 1024;
/** Milliseconds after which a file is killed. Tests end themselves long before; an endless loop cannot. */
const LONGEST_FILE = 900_000;
/** Milliseconds for the last output of a file. */
const LAST_OUTPUT = 2_000;

/** Runs the files and reports each result as it completes. */
export async function runTestFiles(run: TestRun, onResult: (result: FileResult) => void): Promise<void> {
  const waiting = [...run.files];
  const worker = async () => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      const result = await runTestFile(file, run);
      if (!result.isOk && run.bail) waiting.length = 0;
      onResult(result);
    }
  };
  await Promise.all(Array.from({ length: run.jobs }, worker));
}

function runTestFile(file: string, { timeout, grep, thorough }: TestRun): Promise<FileResult> {
  const start = performance.now();
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [file], {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'inherit'],
      env: {
        ...process.env,
        TAP_TIMEOUT: String(timeout),
        ...(grep.length > 0 && { TAP_GREP: grep.join('\n') }),
        ...(thorough && { TEST_THOROUGH: '1' }),
      },
    });
    // A reader that closes the pipe (`npm test | head`) ends this process; no test must continue unnoticed.
    const stop = () => void child.kill();
    process.once('exit', stop);
    const killer = setTimeout(() => child.kill('SIGKILL'), LONGEST_FILE);
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (output.length < LONGEST_OUTPUT) output += text;
    });
    child.once('error', reject);
    // Processes that a test left behind can keep its output open.
    child.once('exit', () => setTimeout(() => child.stdout.destroy(), LAST_OUTPUT).unref());
    child.once('close', (code, signal) => {
      clearTimeout(killer);
      process.off('exit', stop);
      const exit = code ?? signal ?? 'SIGKILL';
      resolve({ file, isOk: exit === 0, exit, milliseconds: performance.now() - start, output });
    });
  });
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
