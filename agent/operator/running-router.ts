// Whether a router runs with a configuration file: a process listens on its operator socket. A second router with the
// same file would write to the files of the first one, and controllers reject it.

import { connect } from 'node:net';
import { errorCode } from '#lib/errors.ts';
import { findOperatorPath, operatorPath, PATH_TOO_LONG } from './operator-path.ts';

/**
 * Errors of a socket without a process: it does not exist, its process has ended, it is another kind of file, or its
 * path is too long for a socket.
 */
const NOBODY_LISTENS: ReadonlySet<string> = new Set(['ENOENT', 'ECONNREFUSED', 'ENOTSOCK', PATH_TOO_LONG]);

/** A process listens, but its queue is full. */
const BUSY = 'EAGAIN';

/** Returns the operator socket of the router that runs with this file, also as a service; undefined if none runs. */
export async function runningRouter(configFile: string): Promise<string | undefined> {
  for (const path of new Set([operatorPath(configFile), servicePath(configFile)]))
    if (path !== undefined && (await connects(path))) return path;
  return undefined;
}

/** Whether a process listens on the socket, or may do so; the file remains when a router is killed. */
export function isServed(path: string): Promise<boolean> {
  return attempt(path, (code) => !NOBODY_LISTENS.has(code));
}

/** Only a router that accepts connections is known to run: other users' folders are not accessible. */
function connects(path: string): Promise<boolean> {
  return attempt(path, (code) => code === BUSY);
}

function attempt(path: string, onError: (code: string) => boolean): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path, () => (socket.destroy(), resolve(true)));
    socket.once('error', (error) => resolve(onError(errorCode(error) ?? '')));
  });
}

function servicePath(configFile: string): string | undefined {
  try {
    return findOperatorPath(configFile);
  } catch {
    return undefined; // the folder belongs to another user
  }
}
