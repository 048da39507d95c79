// Loads a configuration in a process of its own (load-child.ts). YAML, schema and checks are large and needed once: so their memory goes back
// before the router begins to work, and no file, however hostile, costs the daemon anything but an answer.

import { fork } from 'node:child_process';
import { join } from 'node:path';
import { InvariantError } from '#lib/errors.ts';
import type { LoadedConfig } from './load.ts';

const CHILD = join(import.meta.dirname, 'load-child.ts');

/** Like loadRouterConfig. Rejects only when the process cannot do its work at all. */
export function loadApart(file: string): Promise<LoadedConfig> {
  return new Promise((resolve, reject) => {
    const child = fork(CHILD, [file], {
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      detached: true, // a signal for the whole group is for the router to answer
    });
    child.once('message', (loaded) => resolve(loaded as LoadedConfig));
    child.once('error', reject);
    child.once('exit', (code, signal) =>
      reject(new InvariantError(`the check of ${file} ended early (${signal ?? code})`)),
    );
  });
}
