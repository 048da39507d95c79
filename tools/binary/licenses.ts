// The licenses of third-party code in what we build: of packages, and in single executables of Node.

import { globSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../commands.ts';

const RULE = '-'.repeat(80);
const LICENSE_FILE = /^(licen[cs]e|copying|notice)/i;

const MIT = `Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.`;

/** Packages whose files contain another package, with its license. */
const CONTAINED: Readonly<Record<string, string>> = {
  htm: `It contains preact, MIT\n\nCopyright (c) 2015-present Jason Miller\n\n${MIT}`,
};
/** A library in Node whose license Node's LICENSE lacks. */
const LIBFFI = `Copyright (c) 1996-2026 Anthony Green, Red Hat, Inc and others\n\n${MIT}`;

/** @param packages Folders in the project. */
export function licensesWithNode(packages: Iterable<string>): string {
  const node = `Node.js ${process.version}, MIT and others\n\n${licenseOfNode()}`;
  const libffi = `libffi ${process.versions.libffi}, within Node.js, MIT\n\n${LIBFFI}`;
  return joined([node, libffi, ...partsOf(packages)]);
}

/** @param packages Folders in the project. */
export function licenses(packages: Iterable<string>): string {
  return joined(partsOf(packages));
}

function joined(parts: readonly string[]): string {
  return `${parts.join(`\n\n${RULE}\n`)}\n`;
}

function partsOf(packages: Iterable<string>): string[] {
  return [...packages].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8')) as Record<
      string,
      string
    >;
    const files = readdirSync(join(ROOT, folder)).filter((file) => LICENSE_FILE.test(file));
    const texts = files.map((file) => readFileSync(join(ROOT, folder, file), 'utf8').trim());
    const contained = CONTAINED[name ?? ''] ?? [];
    return [`${name} ${version}, ${license}`, ...texts, ...[contained].flat()].join('\n\n');
  });
}

/** Its package has the licenses of all its libraries; an installed Node of the system may have none. */
function licenseOfNode(): string {
  const [file] = globSync('node_modules/{node/node_modules/,}node-*-*/LICENSE', { cwd: ROOT });
  if (file === undefined) return `https://github.com/nodejs/node/blob/${process.version}/LICENSE`;
  return readFileSync(join(ROOT, file), 'utf8').trim();
}
