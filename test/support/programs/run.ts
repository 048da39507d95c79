// Runs a program of the project to its end, as from a shell.

import { spawn } from 'node:child_process';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../../..');

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Closes standard output before the program writes to it. */
  readonly isDeaf?: boolean;
  /** Standard input; by default a pipe that stays open. */
  readonly input?: string;
}

/** `args` start with the TypeScript file, relative to the project. */
export function runProgram(args: readonly string[], options: RunOptions = {}): Promise<Outcome> {
  const [file = '', ...rest] = args;
  return new Promise((resolve) => {
    // tap makes every child process load its modules, which takes longer than most commands.
    const child = spawn('env', ['-u', 'NODE_OPTIONS', process.execPath, join(ROOT, file), ...rest], {
      cwd: options.cwd ?? ROOT,
      env: { ...process.env, ...options.env },
    });
    if (options.input !== undefined) child.stdin.end(options.input);
    if (options.isDeaf) child.stdout.destroy();
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text) => {
      stderr += text;
    });
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
}
