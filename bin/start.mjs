// Starts a command line of the installed package. Plain JavaScript for any Node: one that is too old gets a sentence
// instead of a stack.

import module from 'node:module';
import { nodeProblem } from './node-version.mjs';

/**
 * Memory settings of programs that serve: 15 to 20 MiB less (docs/performance.md). They take effect only at the start
 * of a process.
 */
const MEMORY_OPTION = '--max-semi-space-size';
const MEMORY_ENVIRONMENT = { MALLOC_ARENA_MAX: '1' };
/** Program → commands that serve, and the MiB of their memory for young objects. */
const SERVING = { 'router-cli.js': { run: 4 }, 'sim-cli.js': { start: 8, network: 8 } };

/**
 * The system ignores stop signals of the first process, such as that of a container, while it has no handler. The
 * program replaces this one (common/lib/process/first-process.ts).
 */
const STOP_SIGNALS = { SIGINT: 130, SIGTERM: 143 };

/** @param {string} program file of the command line in the build */
export async function start(program) {
  if (process.pid === 1)
    for (const [signal, code] of Object.entries(STOP_SIGNALS)) process.on(signal, () => process.exit(code));
  const problem = nodeProblem();
  if (problem !== undefined) {
    process.stderr.write(`${problem}\n`);
    process.exitCode = 1;
    return;
  }
  const size = SERVING[program]?.[process.argv[2]];
  if (size !== undefined) saveMemory(size);
  module.enableCompileCache();
  await import(new URL(`../dist/${program}`, import.meta.url).href);
}

/**
 * Replaces this process by one with the settings: the same process id, descriptors and arguments. Settings of the user
 * win. @param {number} size
 */
function saveMemory(size) {
  const given = [...process.execArgv, process.env.NODE_OPTIONS ?? ''].join(' ');
  if (given.includes(MEMORY_OPTION) || process.platform === 'win32') return;
  const args = [process.execPath, ...process.execArgv, `${MEMORY_OPTION}=${size}`, ...process.argv.slice(1)];
  process.execve(process.execPath, args, { ...MEMORY_ENVIRONMENT, ...process.env });
}
