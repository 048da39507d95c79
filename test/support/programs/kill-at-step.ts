// Loaded into a process before its program: sends it a signal, such as that of `kill -9`, at the step that a variable
// names: each rename and each removal of a file is a step. The name is a number, or the end of the new name of a file.

import { promises } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { pathToFileURL } from 'node:url';

const VARIABLE = 'EDGEWEAVE_TEST_KILL_AT';

/** Options of Node and variables of a process that gets a signal before a step: its number, or the end of a name. */
export function killedAt(
  at: number | string,
  signal: NodeJS.Signals = 'SIGKILL',
): { node: string[]; env: Record<string, string> } {
  return { node: ['--import', pathToFileURL(import.meta.filename).href], env: { [VARIABLE]: `${at} ${signal}` } };
}

const [at, signal] = process.env[VARIABLE]?.split(' ') ?? [];
if (at !== undefined) {
  let steps = 0;
  let isOver = false;
  const step = (name: string) => {
    const isThere = /^\d+$/.test(at) ? steps++ === Number(at) : name.endsWith(at);
    if (!isThere || isOver) return;
    isOver = true;
    process.kill(process.pid, signal);
  };
  const { rename, rm } = promises;
  promises.rename = (from, to) => (step(String(to)), rename(from, to));
  promises.rm = (...names) => (step(String(names[0])), rm(...names));
  syncBuiltinESMExports();
}
