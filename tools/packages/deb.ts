// Writes Debian packages (deb(5), format 2.0), the same bytes for the same content.

import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type TarEntry, tar } from '../image/tar.ts';
import { type PackageFile, REVISION, type SystemPackage } from './contents.ts';

const MAGIC = '!<arch>\n';
const KIB = 1024;
const WIDTH = 78;

export interface DebianInit {
  /** Processor, as Debian names it. */
  readonly architecture: string;
  readonly maintainer: string;
  /** Seconds since 1970 of all files. */
  readonly time: number;
}

export function debianPackage(contents: SystemPackage, init: DebianInit): Buffer {
  const { time } = init;
  const files = [...contents.files, overrides(contents.name), changes(contents, init)].sort((a, b) =>
    a.path < b.path ? -1 : 1,
  );
  const packed = (entries: readonly TarEntry[]) => gzipSync(tar(entries, time), { level: 9 });
  return Buffer.concat([
    Buffer.from(MAGIC),
    ...member('debian-binary', Buffer.from('2.0\n'), time),
    ...member('control.tar.gz', packed(control(contents, files, init)), time),
    ...member('data.tar.gz', packed(withFolders(files)), time),
  ]);
}

function control(contents: SystemPackage, files: readonly PackageFile[], init: DebianInit): TarEntry[] {
  const { name, version, summary, description, depends, recommends } = contents;
  const size = files.reduce((total, { content }) => total + Math.ceil(content.length / KIB), 0);
  const fields = [
    `Package: ${name}`,
    `Version: ${version}-${REVISION}`,
    `Architecture: ${init.architecture}`,
    `Maintainer: ${init.maintainer}`,
    `Installed-Size: ${size}`,
    `Depends: ${depends}`,
    ...(recommends === '' ? [] : [`Recommends: ${recommends}`]),
    'Section: net',
    'Priority: optional',
    `Description: ${summary}`,
    ...description.map(wrapped).join('\n .\n').split('\n'),
  ];
  const { afterInstallation, beforeRemoval, afterRemoval, afterPurge } = contents.scripts;
  const sums = files.map(({ path, content }) => `${createHash('md5').update(content).digest('hex')}  ${path}\n`);
  const configuration = files.filter(({ isConfiguration }) => isConfiguration).map(({ path }) => `/${path}\n`);
  const entry = (path: string, text: string, mode = 0o644) => ({ path: `./${path}`, mode, content: Buffer.from(text) });
  return [
    { path: '.', mode: 0o755 },
    entry('conffiles', configuration.join('')),
    entry('control', `${fields.join('\n')}\n`),
    entry('md5sums', sums.join('')),
    entry('postinst', script(branch('configure', afterInstallation)), 0o755),
    entry('postrm', script(`${afterRemoval}\n${branch('purge', afterPurge)}`), 0o755),
    entry('prerm', script(branch('remove', beforeRemoval)), 0o755),
  ];
}

function branch(action: string, commands: string): string {
  return `if [ "$1" = ${action} ]; then\n${commands}\nfi`;
}

function script(commands: string): string {
  return `#!/bin/sh\nset -e\n${commands}\n`;
}

/** Lines of at most 78 characters, as Debian shows them. */
function wrapped(paragraph: string): string {
  const lines = [''];
  for (const word of paragraph.split(' ')) {
    const last = lines.at(-1) ?? '';
    if (`${last} ${word}`.length > WIDTH) lines.push(` ${word}`);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines.join('\n');
}

/** Findings of lintian about Node itself, which contains its libraries and our code. */
function overrides(name: string): PackageFile {
  const tags = ['embedded-library', 'hardening-no-pie', 'unstripped-binary-or-object'];
  const lines = tags.map((tag) => `${name}: ${tag} *\n`);
  const content = `# The executable is Node, which contains its libraries, with our code and its data appended.\n${lines.join('')}`;
  return { path: `usr/share/lintian/overrides/${name}`, mode: 0o644, content: Buffer.from(content) };
}

/** The changelog of the packaging, in the format of Debian. */
function changes({ name, version }: SystemPackage, { maintainer, time }: DebianInit): PackageFile {
  const date = new Date(time * 1_000).toUTCString().replace('GMT', '+0000');
  const text = `${name} (${version}-${REVISION}) unstable; urgency=medium

  * changelog.gz has the changes of this version.

 -- ${maintainer}  ${date}
`;
  const path = `usr/share/doc/${name}/changelog.Debian.gz`;
  return { path, mode: 0o644, content: gzipSync(text, { level: 9 }) };
}

function withFolders(files: readonly PackageFile[]): TarEntry[] {
  const entries = new Map<string, TarEntry>([['.', { path: '.', mode: 0o755 }]]);
  for (const { path, mode, content } of files) {
    const folders: string[] = [];
    for (let folder = posix.dirname(path); folder !== '.'; folder = posix.dirname(folder)) folders.unshift(folder);
    for (const folder of folders) entries.set(folder, { path: `./${folder}`, mode: 0o755 });
    entries.set(path, { path: `./${path}`, mode, content });
  }
  return [...entries.values()];
}

/** A file in an archive of `ar`: its header, its content, and a byte that makes the length even. */
function member(name: string, content: Buffer, time: number): Buffer[] {
  const fields = [
    name.padEnd(16),
    String(time).padEnd(12),
    '0'.padEnd(6),
    '0'.padEnd(6),
    '100644'.padEnd(8),
    String(content.length).padEnd(10),
    '`\n',
  ];
  return [Buffer.from(fields.join('')), content, Buffer.from(content.length % 2 === 0 ? '' : '\n')];
}
