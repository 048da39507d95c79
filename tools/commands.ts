// Running the tools of the project one after the other, from the project's root.

import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';

export const ROOT = dirname(import.meta.dirname);

/** Runs a tool of node_modules/.bin; resolves with its exit code. */
export function runTool(
  name: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<number> {
  const bin = join(ROOT, 'node_modules', '.bin');
  return new Promise((resolve, reject) => {
    const child = spawn(join(bin, name), args, {
      cwd: ROOT,
      stdio: 'inherit',
      env: { ...process.env, PATH: `${bin}:${process.env.PATH ?? ''}`, ...env },
    });
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  });
}

export function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
