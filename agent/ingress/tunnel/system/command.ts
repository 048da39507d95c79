// Runs a program of the operating system (`ip`, `nft`, `iptables`) and reads its output.

import { spawn } from 'node:child_process';
import type { Clock } from '#lib/clock.ts';
import { errorCode, ProjectError } from '#lib/errors.ts';

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
}

/** Milliseconds; a program that takes longer is killed. */
const COMMAND_TIMEOUT = 10_000;
/** Bytes of output that are kept; further output is dropped. */
const MOST_OUTPUT = 1024 * 1024;

/** Packages that contain the programs, for the remedy in an error. */
const PACKAGES: Readonly<Record<string, string>> = { ip: 'iproute2', nft: 'nftables', iptables: 'iptables' };

/** Resolves with the standard output. Rejects with CommandError if the program is missing, fails or times out. */
export function runCommand(command: Command, clock: Clock): Promise<string> {
  const { program, args, input = '' } = command;
  const line = [program, ...args].join(' ');
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'] });
    const timer = clock.after('system command', COMMAND_TIMEOUT, () => child.kill('SIGKILL'));
    const output = collect(child.stdout);
    const errors = collect(child.stderr);
    child.stdin.on('error', () => undefined); // the exit code reports the failure
    child.stdin.end(input);
    child.on('error', (error) => {
      timer.cancel();
      reject(new CommandError(startProblem(program, error), { cause: error }));
    });
    child.on('close', (code, signal) => {
      timer.cancel();
      if (code === 0) resolve(output.text());
      else reject(new CommandError(`${line} failed (${signal ?? code}): ${errors.text().trim() || 'no message'}`));
    });
  });
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

function collect(stream: NodeJS.ReadableStream): { text(): string } {
  const chunks: Buffer[] = [];
  let size = 0;
  stream.on('data', (chunk: Buffer) => {
    if (size < MOST_OUTPUT) chunks.push(chunk);
    size += chunk.length;
  });
  return { text: () => Buffer.concat(chunks).subarray(0, MOST_OUTPUT).toString('utf8') };
}
