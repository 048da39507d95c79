// Loads a configuration in a separate process (load-child.ts). The code for YAML, schema and checks is large and needed
// only once: the child frees its memory before the router starts to work, and shields the daemon from hostile files.

import { fork } from 'node:child_process';
import { extname, join } from 'node:path';
import { InvariantError } from '#lib/errors.ts';
import { deepFreeze } from '#lib/json/deep-freeze.ts';
import type { LoadedConfig, LoadOptions } from './load.ts';

/** Characters of the child's error output that are kept. */
const MAX_ERROR_LENGTH = 4_096;

/** Like loadRouterConfig. Rejects only if the child process fails. */
export function loadApart(file: string, options: Pick<LoadOptions, 'extend'> = {}): Promise<LoadedConfig> {
  return new Promise((resolve, reject) => {
    const child = fork(childFile(), [file, JSON.stringify(options), process.argv[1] ?? ''], {
      serialization: 'advanced',
      execArgv: [], // options for the router's memory
      // Not the router's stderr: Node makes an inherited pipe blocking when it exits. Every write of the router to an
      // unread log would then block.
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      detached: true, // signals for the process group must reach only the router
    });
    let output = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(0, MAX_ERROR_LENGTH);
    });
    // The result loses its frozen state between the processes.
    child.once('message', (loaded) => resolve(deepFreeze(loaded as LoadedConfig)));
    child.once('error', reject);
    child.once('close', (code, signal) => {
      const reason = [`the check of ${file} ended early (${signal ?? code})`, output.trim()].filter(Boolean);
      reject(new InvariantError(reason.join(': ')));
    });
  });
}

/**
 * The child has the extension of this file: TypeScript, or JavaScript if built. An executable starts itself, and only
 * the name counts: without /proc it does not know its folder.
 */
function childFile(): string {
  const { dirname = '/', filename = '' } = import.meta;
  return join(dirname, `load-child${extname(filename)}`);
}
