// Runs a program of the operating system (`ip`, `nft`, `iptables`) and reads its output.

import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { errorCode, ProjectError } from '#lib/errors.ts';
import type { Clock } from '#lib/time/clock.ts';

export class CommandError extends ProjectError {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super('SYSTEM_COMMAND', message, options);
  }
}

export interface Command {
  readonly program: string;
  readonly args: readonly string[];
  /** Text for standard input. */
  readonly input?: string;
  /** Limit on bytes of standard output. */
  readonly maxOutput?: number;
}

/** Milliseconds; a program that takes longer is killed. */
const COMMAND_TIMEOUT = 10_000;
/** Milliseconds for the output after the program has ended: a daemon that it started may keep the output open. */
const OUTPUT_TIME = 1_000;
const MAX_OUTPUT_BYTES = 1024 * 1024;

/** Packages that contain the programs, for the remedy in an error. */
const PACKAGES: Readonly<Record<string, string>> = { ip: 'iproute2', nft: 'nftables', iptables: 'iptables' };

/**
 * Resolves with the standard output. Rejects with CommandError if the program is missing, fails, times out or writes
 * too much.
 */
export function runCommand(command: Command, clock: Clock): Promise<string> {
  const { program, args, input = '', maxOutput = MAX_OUTPUT_BYTES } = command;
  const line = [program, ...args].join(' ');
  return new Promise((resolve, reject) => {
    const child: ChildProcess = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'] });
    if (!hasPipes(child)) {
      child.on('error', (error) => reject(new CommandError(startProblem(program, error), { cause: error })));
      return;
    }
    const output = collect(child.stdout, maxOutput);
    const errors = collect(child.stderr, MAX_OUTPUT_BYTES);
    let timer = clock.after('system command', COMMAND_TIMEOUT, () => {
      child.kill('SIGKILL');
      fail(`did not end within ${COMMAND_TIMEOUT / 1_000} s`);
    });
    const release = () => {
      timer.cancel();
      child.stdout.destroy();
      child.stderr.destroy();
    };
    const fail = (problem: string) => {
      release();
      reject(new CommandError(`${line} ${problem}`));
    };
    const finish = (code: number | null, signal: NodeJS.Signals | null) => {
      if (code !== 0) fail(`failed (${signal ?? code}): ${errors.text().trim() || 'no message'}`);
      else if (output.isCut) fail(`wrote more than ${maxOutput} bytes`);
      else {
        release();
        resolve(output.text());
      }
    };
    child.stdin.on('error', () => undefined); // the exit code reports the failure
    child.stdin.end(input);
    child.on('error', (error) => {
      release();
      reject(new CommandError(startProblem(program, error), { cause: error }));
    });
    child.on('exit', (code, signal) => {
      timer.cancel();
      timer = clock.after('output of a system command', OUTPUT_TIME, () => finish(code, signal));
    });
    child.on('close', finish);
  });
}

/** Without free file descriptors, Node creates none of the pipes for the program, which does not start. */
function hasPipes(child: ChildProcess): child is ChildProcessWithoutNullStreams {
  return Boolean(child.stdin);
}

/** Whether a command failed because its program is not installed. */
export function isMissingProgram(error: unknown): boolean {
  return error instanceof CommandError && errorCode(error.cause) === 'ENOENT';
}

function startProblem(program: string, error: Error): string {
  const remedy = `install ${PACKAGES[program] ?? program}`;
  return errorCode(error) === 'ENOENT'
    ? `${program} was not found; ${remedy}`
    : `${program} cannot be run: ${error.message}`;
}

/** Keeps at most `most` bytes. */
function collect(stream: NodeJS.ReadableStream, max: number): { readonly isCut: boolean; text(): string } {
  const chunks: Buffer[] = [];
  let size = 0;
  stream.on('data', (chunk: Buffer) => {
    if (size < max) chunks.push(chunk);
    size += chunk.length;
  });
  return {
    get isCut() {
      return size > max;
    },
    text: () => Buffer.concat(chunks).subarray(0, max).toString('utf8'),
  };
}
