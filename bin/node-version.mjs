// Tells which Node this package needs. Plain JavaScript for any Node: one that is too old cannot even read the other
// files.

import { readFileSync } from 'node:fs';

/** @returns {string | undefined} a sentence if this Node is too old */
export function nodeProblem() {
  const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  const min = Number.parseInt(engines.node.replace(/\D+/, ''), 10);
  if (Number.parseInt(process.versions.node, 10) >= min) return undefined;
  return `edgeweave needs Node ${min} or later; this is ${process.version} (${process.execPath})`;
}

/** Throws if this Node is too old. */
export function demandNode() {
  const problem = nodeProblem();
  if (problem !== undefined) throw new Error(problem);
}
