// Loads a configuration in a process of its own (load-child.ts). YAML, schema and checks are large and needed once: so their memory goes back
// before the router begins to work, and no file, however hostile, costs the daemon anything but an answer.

import { fork } from 'node:child_process';
import { extname, join } from 'node:path';
import { deepFreeze } from '#lib/deep-freeze.ts';
import { InvariantError } from '#lib/errors.ts';
import type { LoadedConfig } from './load.ts';

/** The child is TypeScript as this file is, or built as this file is. */
const CHILD = join(import.meta.dirname, `load-child${extname(import.meta.filename)}`);

/** Characters that are kept of what the process says when it fails. */
const LONGEST_COMPLAINT = 4_096;

/** Like loadRouterConfig. Rejects only when the process cannot do its work at all. */
export function loadApart(file: string): Promise<LoadedConfig> {
  return new Promise((resolve, reject) => {
    const child = fork(CHILD, [file], {
      serialization: 'advanced',
      execArgv: [], // options for the router's memory
      // Not the router's stderr: Node makes a pipe that it inherited block again when it exits, and so would every write
      // of the router to a log that nobody reads.
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      detached: true, // a signal for the whole group is for the router to answer
    });
    let complaint = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      complaint = (complaint + text).slice(0, LONGEST_COMPLAINT);
    });
    // The way between the processes loses that the configuration is frozen.
    child.once('message', (loaded) => resolve(deepFreeze(loaded as LoadedConfig)));
    child.once('error', reject);
    child.once('close', (code, signal) => {
      const reason = [`the check of ${file} ended early (${signal ?? code})`, complaint.trim()].filter(Boolean);
      reject(new InvariantError(reason.join(': ')));
    });
  });
}
