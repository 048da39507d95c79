// The variable NODE_EXTRA_CA_CERTS of an executable's environment. Node reads it before our code runs, and prints a
// line of its own on standard error for each command if the file cannot be read: often the variable is meant for
// another machine or root folder.

import { accessSync, constants } from 'node:fs';
import { UNREADABLE_AUTHORITIES } from '#lib/process/unreadable-authorities.ts';

const VARIABLE = 'NODE_EXTRA_CA_CERTS';

/**
 * Replaces this process by one without the variable if its file cannot be read: the same process id, descriptors, name
 * and arguments.
 */
export function ignoreUnreadableAuthorities(): void {
  const environment = readableEnvironment(process.env);
  if (environment && isAccessible(process.execPath, constants.X_OK))
    process.execve?.(process.execPath, [process.argv0, ...process.argv.slice(2)], environment);
}

/**
 * Returns the environment with the name of the file in another variable, or undefined if the file can be read or none
 * is named.
 */
export function readableEnvironment({ [VARIABLE]: file, ...others }: NodeJS.ProcessEnv): NodeJS.ProcessEnv | undefined {
  if (!file || isAccessible(file, constants.R_OK)) return undefined;
  return { ...others, [UNREADABLE_AUTHORITIES]: file };
}

function isAccessible(file: string, mode: number): boolean {
  try {
    accessSync(file, mode);
    return true;
  } catch {
    return false; // missing, or of another user
  }
}
