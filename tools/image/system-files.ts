// The files of the operating system that an image needs: programs, the libraries that they and ours load, and the
// licenses of the Debian packages that contain them. They come from the machine that builds, or from a folder with the
// files of another architecture.

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { programNeeds } from './elf.ts';

/** Content by path in the image, without a slash at the start; a text is the target of a link. */
export type ImageFiles = Map<string, Buffer | Link>;

interface Link {
  readonly target: string;
}

/** Names of processors: of Node, of Debian's folders and of images. */
export const PROCESSORS = {
  x64: { folder: 'x86_64-linux-gnu', image: 'amd64' },
  arm64: { folder: 'aarch64-linux-gnu', image: 'arm64' },
} as const;
export type Processor = keyof typeof PROCESSORS;

interface Source {
  /** Root folder of the system. */
  readonly root: string;
  readonly processor: Processor;
}

/** Programs that are links to these in every system: the image has the program and the link. */
const FOLDERS = ['usr/bin', 'usr/sbin', 'bin', 'sbin'];

/** @throws Error that names the missing file and the package with it */
export function systemFiles(
  source: Source,
  programs: Readonly<Record<string, string>>,
  ours: readonly Buffer[],
): ImageFiles {
  const files: ImageFiles = new Map();
  const owners = new Set<string>();
  const add = (path: string) => {
    const real = realPath(source.root, path);
    const content = readFileSync(join(source.root, real));
    owners.add(real);
    addFile(files, real, content);
    if (basename(path) !== basename(real)) files.set(join(dirname(real), basename(path)), { target: basename(real) });
    addLibraries(content);
  };
  const addLibraries = (content: Buffer) => {
    const needs = programNeeds(content);
    const loader = needs?.interpreter?.slice(1);
    for (const name of needs?.libraries ?? []) {
      const path = findLibrary(source, name);
      if (!files.has(path)) add(path);
    }
    if (loader !== undefined && !files.has(loader)) {
      const real = realPath(source.root, loader);
      if (!files.has(real)) add(real);
      if (real !== merged(loader)) files.set(merged(loader), { target: `/${real}` });
    }
  };
  for (const each of ours) addLibraries(each);
  for (const [name, debianPackage] of Object.entries(programs)) {
    const path = name.includes('/')
      ? name.replace('TRIPLET', PROCESSORS[source.processor].folder)
      : FOLDERS.map((folder) => join(folder, name)).find((each) => existsSync(join(source.root, each)));
    if (path === undefined || !existsSync(join(source.root, path)))
      throw new Error(`${name} is missing: install the package ${debianPackage}`);
    add(path);
  }
  for (const each of packagesOf(source, [...owners])) {
    const license = `usr/share/doc/${each}/copyright`;
    files.set(license, readFileSync(join(source.root, license)));
  }
  return files;
}

function addFile(files: ImageFiles, path: string, content: Buffer): void {
  files.set(path, content);
}

function findLibrary({ root, processor }: Source, name: string): string {
  const { folder } = PROCESSORS[processor];
  const path = [`usr/lib/${folder}`, `lib/${folder}`, 'usr/lib64', 'lib64', 'usr/lib', 'lib']
    .map((each) => join(each, name))
    .find((each) => existsSync(join(root, each)));
  if (path === undefined) throw new Error(`the library ${name} is missing below ${root}`);
  return merged(path);
}

/** The path without links of folders: /bin, /sbin and /lib are links in today's systems, and in the image. */
function realPath(root: string, path: string): string {
  const real = realpathSync(join(root, path));
  return merged(root === '/' ? real.slice(1) : real.slice(realpathSync(root).length + 1));
}

function merged(path: string): string {
  return path.replace(/^(bin|sbin|lib|lib64)\//, 'usr/$1/');
}

/** Names of the Debian packages that contain the files. */
function packagesOf({ root }: Source, paths: readonly string[]): ReadonlySet<string> {
  const found = new Set<string>();
  for (const path of paths) {
    const owner = [`/${path}`, `/${path.replace(/^usr\//, '')}`].map((each) => owningPackage(root, each)).find(Boolean);
    if (!owner) throw new Error(`no Debian package contains /${path}: its license is unknown`);
    found.add(owner);
  }
  return found;
}

function owningPackage(root: string, path: string): string | undefined {
  try {
    const args = [`--admindir=${join(root, 'var/lib/dpkg')}`, '--search', path];
    const output = execFileSync('dpkg-query', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    return output.split(/[:,]/)[0];
  } catch {
    return undefined; // the package lists another one of its paths
  }
}
