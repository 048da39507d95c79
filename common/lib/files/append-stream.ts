// Opens files that lines are appended to. It never waits: a named pipe is opened without blocking, and written without
// occupying a thread while its reader stalls.

import { constants, createWriteStream, fstatSync, openSync, statSync, type WriteStream } from 'node:fs';
import { Socket } from 'node:net';
import { errorCode, ProjectError } from '../errors.ts';
import { requireNotPlanted } from './atomic-file.ts';

export interface AppendStream {
  readonly stream: WriteStream | Socket;
  /** Bytes in the file; undefined for pipes and devices, which do not grow. */
  readonly size: number | undefined;
}

/**
 * Creates a missing file, readable only for its owner. @throws the system's error, or ProjectError for a pipe without a
 * reader, or for a file that another user has put into a common folder
 */
export function openAppendStream(path: string): AppendStream {
  requireNotPlanted(path);
  if (statSync(path, { throwIfNoEntry: false })?.isFIFO())
    return { stream: new Socket({ fd: openPipe(path), readable: false, writable: true }), size: undefined };
  const fd = openSync(path, 'a', 0o600);
  const stats = fstatSync(fd);
  return { stream: createWriteStream(path, { fd }), size: stats.isFile() ? stats.size : undefined };
}

function openPipe(path: string): number {
  try {
    return openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (errorCode(error) !== 'ENXIO') throw error;
    throw new ProjectError('PIPE_WITHOUT_READER', `${path} is a named pipe without a reader; start its reader first`);
  }
}
