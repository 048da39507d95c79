// Names of the command lines: `router` and `sim` in the scripts of a checkout, prefixed with the package name in the
// installed package.

import { basename } from 'node:path';

const PACKAGE = 'edgeweave-';

/** The name with which the user started this program. */
export function commandName(short: string, file = process.argv[1] ?? ''): string {
  const name = basename(file).replace(/\.mjs$/, '');
  return name.startsWith(PACKAGE) ? name : short;
}

/** The end of a help text: commands as the user would type them. */
export function examples(short: string, ...lines: readonly string[]): string {
  const title = lines.length === 1 ? 'Example' : 'Examples';
  return `\n${title}:\n${lines.map((line) => `  ${commandName(short)} ${line}`).join('\n')}`;
}
