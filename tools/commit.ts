// The commit of a checkout.

import { execFileSync } from 'node:child_process';
import { realpathSync } from 'node:fs';

/** Undefined outside a checkout, or if the project is inside another repository. */
export function commitOf(root: string): string | undefined {
  const [top, commit] = git(root, 'rev-parse', '--show-toplevel', 'HEAD')?.split('\n') ?? [];
  return top !== undefined && realpathSync(top) === realpathSync(root) ? commit : undefined;
}

/** The output of a command of git; undefined if it fails. */
export function git(root: string, ...args: string[]): string | undefined {
  try {
    return execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return undefined; // git is not installed, or this is not a checkout
  }
}
