// Starts a command line of the installed package. Plain JavaScript for any Node: one that is too old gets a sentence instead of a stack.

import module from 'node:module';
import { nodeProblem } from './node-version.mjs';

/** Memory settings of a router that serves: about 20 MiB less (docs/performance.md). They take effect only at the start of a process. */
const ROUTER_OPTION = '--max-semi-space-size';
const ROUTER_ENVIRONMENT = { MALLOC_ARENA_MAX: '1' };

/** @param {string} program file of the command line, relative to the build */
export async function start(program) {
  const problem = nodeProblem();
  if (problem !== undefined) {
    process.stderr.write(`${problem}\n`);
    process.exitCode = 1;
    return;
  }
  if (program === 'agent/cli.js' && process.argv[2] === 'run') saveMemory();
  module.enableCompileCache();
  await import(new URL(`../dist/${program}`, import.meta.url).href);
}

/** Replaces this process by one with the settings: the same process id, descriptors and arguments. Settings of the user win. */
function saveMemory() {
  const given = [...process.execArgv, process.env.NODE_OPTIONS ?? ''].join(' ');
  if (given.includes(ROUTER_OPTION) || process.platform === 'win32') return;
  const args = [process.execPath, ...process.execArgv, `${ROUTER_OPTION}=4`, ...process.argv.slice(1)];
  process.execve(process.execPath, args, { ...ROUTER_ENVIRONMENT, ...process.env });
}
