// Tells which Node this package needs. Plain JavaScript for any Node: one that is too old cannot even read the other
// files.

import { readFileSync } from 'node:fs';

const REMEDY = 'In the folder of a program, `npm install node@26` installs one that npx uses.';

/** @returns {string | undefined} sentences if this Node is too old */
export function nodeProblem() {
  const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  const min = Number.parseInt(engines.node.replace(/\D+/, ''), 10);
  if (Number.parseInt(process.versions.node, 10) >= min) return undefined;
  return `edgeweave needs Node ${min} or later; this is ${process.version} (${process.execPath}). ${REMEDY}`;
}

/** Throws if this Node is too old. */
export function requireNode() {
  const problem = nodeProblem();
  if (problem !== undefined) throw new Error(problem);
}
