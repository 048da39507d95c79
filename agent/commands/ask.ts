// Commands that ask the running router of a configuration file, and what they say when it cannot be asked.

import { existsSync } from 'node:fs';
import { describeError, errorCode } from '#lib/errors.ts';
import type { AskOptions } from '../operator/operator-client.ts';
import { complain, Exit } from './exit.ts';

/** No socket, or one that a killed router left behind. */
const NOBODY_THERE: ReadonlySet<string> = new Set(['ENOENT', 'ECONNREFUSED']);

/** `show` gets the result and returns the exit code. */
export async function ask(
  file: string,
  command: string,
  options: AskOptions,
  show: (result: unknown) => number | Promise<number>,
): Promise<number> {
  const { askRouter } = await import('../operator/operator-client.ts');
  let result: unknown;
  try {
    result = await askRouter(file, command, options);
  } catch (error) {
    complain(explain(error, file));
    return Exit.Failed;
  }
  return show(result);
}

function explain(error: unknown, file: string): string {
  if (!existsSync(file)) return `${file} does not exist; give the configuration file of a running router`;
  if (NOBODY_THERE.has(errorCode(error) ?? '')) return `no router of this user runs with ${file}`;
  return `the router of ${file} cannot be asked: ${describeError(error)}`;
}
