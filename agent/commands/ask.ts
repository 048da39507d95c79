// Commands that query the running router of a configuration file, and their errors if it does not answer.

import { printError } from '#lib/commands/print.ts';
import { describeError, errorCode } from '#lib/errors.ts';
import { findProblem } from '#lib/files/read-problem.ts';
import type { AskOptions } from '../operator/operator-client.ts';
import { LONG_PATH_REMEDY, otherUsersWith, PATH_TOO_LONG } from '../operator/operator-path.ts';
import { Exit } from './exit.ts';

/** No socket, or the socket of a killed router. */
const NOBODY_THERE: ReadonlySet<string> = new Set(['ENOENT', 'ECONNREFUSED']);

/** `show` receives the result and returns the exit code. */
export async function ask(
  file: string,
  command: string,
  options: AskOptions,
  show: (result: unknown) => number | Promise<number>,
): Promise<number> {
  const { askRouter, OperatorError } = await import('../operator/operator-client.ts');
  let result: unknown;
  try {
    result = await askRouter(file, command, options);
  } catch (error) {
    printError(error instanceof OperatorError ? error.message : explain(error, file));
    return Exit.Failed;
  }
  return show(result);
}

function explain(error: unknown, file: string): string {
  const missing = findProblem(file);
  if (missing !== undefined)
    return `${missing}; pass the configuration file of a running router, as its user or as root`;
  if (NOBODY_THERE.has(errorCode(error) ?? '')) {
    const none = `no router is running with ${file}`;
    const [other] = otherUsersWith(file);
    if (other !== undefined)
      return `${none} under this user or its owner; the user with the id ${other} seems to run one: run this command as that user, or give ${file} to that user`;
    return process.getuid?.() === 0
      ? `${none}; one in a service with a /tmp of its own (PrivateTmp=) needs the line RuntimeDirectory=edgeweave in its unit`
      : `${none} under this user; if another user runs it, run this command as that user or as root`;
  }
  if (errorCode(error) === PATH_TOO_LONG) return `the router of ${file} cannot be reached: ${LONG_PATH_REMEDY}`;
  return `the router of ${file} cannot be reached: ${describeError(error)}`;
}
