// The licenses of third-party code in a single executable: Node and the packages.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../commands.ts';

const RULE = '-'.repeat(80);
const LICENSE_FILE = /^(licen[cs]e|copying|notice)/i;

/** @param packages Folders in the project. */
export function licenses(packages: ReadonlySet<string>): string {
  const node = `Node.js ${process.version}, MIT and others: https://github.com/nodejs/node/blob/${process.version}/LICENSE`;
  const parts = [...packages].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8')) as Record<
      string,
      string
    >;
    const files = readdirSync(join(ROOT, folder)).filter((file) => LICENSE_FILE.test(file));
    const texts = files.map((file) => readFileSync(join(ROOT, folder, file), 'utf8').trim());
    return [`${name} ${version}, ${license}`, ...texts].join('\n\n');
  });
  return `${[node, ...parts].join(`\n\n${RULE}\n`)}\n`;
}
