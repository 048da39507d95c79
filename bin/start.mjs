// Starts a command line of the installed package. Plain JavaScript for any Node: one that is too old gets a sentence instead of a stack.

import { readFileSync } from 'node:fs';
import module from 'node:module';

/** @param {string} program file of the command line, relative to the build */
export async function start(program) {
  const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  const least = Number.parseInt(engines.node.replace(/\D+/, ''), 10);
  if (Number.parseInt(process.versions.node, 10) < least) {
    process.stderr.write(`edgeweave needs Node ${least} or later; this is ${process.version} (${process.execPath})\n`);
    process.exitCode = 1;
    return;
  }
  module.enableCompileCache();
  await import(new URL(`../dist/${program}`, import.meta.url).href);
}
