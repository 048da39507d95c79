// Loaded into a process before its program: kills it, as with `kill -9`, at the step that a variable names. Each rename
// and each removal of a file is a step.

import { promises } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { pathToFileURL } from 'node:url';

const VARIABLE = 'EDGEWEAVE_TEST_KILL_AT';

/** Options of Node and variables of a process that is killed before its step `at` (from 0). */
export function killedAt(at: number): { node: string[]; env: Record<string, string> } {
  return { node: ['--import', pathToFileURL(import.meta.filename).href], env: { [VARIABLE]: String(at) } };
}

const left = process.env[VARIABLE];
if (left !== undefined) {
  let steps = Number(left);
  const step = () => {
    if (steps-- === 0) process.kill(process.pid, 'SIGKILL');
  };
  const { rename, rm } = promises;
  promises.rename = (...names) => (step(), rename(...names));
  promises.rm = (...names) => (step(), rm(...names));
  syncBuiltinESMExports();
}
