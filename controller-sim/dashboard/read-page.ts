// Reads the files of the dashboard. The build of single executables replaces this module: its own contains their texts.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import files from './files.json' with { type: 'json' };

export type PageName = keyof typeof files;

/** The path of a file: one of ours, or one of a package. */
export function pathOfPage(name: PageName): string {
  return fileURLToPath(import.meta.resolve(files[name]));
}

export function readPage(name: PageName): string {
  return readFileSync(pathOfPage(name), 'utf8');
}
