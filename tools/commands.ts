// Runs the tools of the project in sequence, from the project's root.

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { writeObstacle } from '../common/lib/files/writable.ts';

export const ROOT = dirname(import.meta.dirname);

/** Runs a tool of node_modules/.bin; resolves with its exit code. */
export function runTool(name: string, args: readonly string[]): Promise<number> {
  const bin = join(ROOT, 'node_modules', '.bin');
  return new Promise((resolve, reject) => {
    const child = spawn(join(bin, name), args, {
      cwd: ROOT,
      stdio: 'inherit',
      env: { ...process.env, PATH: `${bin}:${process.env.PATH ?? ''}` },
    });
    // A reader that closes the pipe (`npm test | head`) ends this process; the tool must end too.
    const stop = () => void child.kill();
    process.once('exit', stop);
    child.once('error', reject);
    child.once('close', (code) => {
      process.off('exit', stop);
      resolve(code ?? 1);
    });
  });
}

/** Whether a program is in a folder of PATH. */
export function isInstalled(program: string): boolean {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, program)));
}

/** Ends this process with a message if the folder is not writable. */
export function needFolder(folder: string, remedy = 'copy the project to your own folder'): void {
  const obstacle = writeObstacle(join(folder, 'file'), { makesFolder: true });
  if (obstacle === undefined) return;
  process.stderr.write(`${obstacle}; ${remedy}\n`);
  process.exit(1);
}

export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
