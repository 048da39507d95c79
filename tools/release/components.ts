// The third-party parts of a release: packages in the executables, Node with its libraries, and the Debian packages
// whose files are in the images.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundle } from '../binary/bundle.ts';
import { PROGRAMS } from '../binary/programs.ts';
import { ROOT } from '../commands.ts';
import { PROCESSORS, type Processor, systemFiles } from '../image/system-files.ts';

export interface Component {
  readonly name: string;
  readonly version: string;
  /** SPDX expression. */
  readonly license?: string;
  /** Names of the licenses of a Debian package, which differ from those of SPDX. */
  readonly licenseNames?: readonly string[];
  /** Package URL (https://github.com/package-url/purl-spec). */
  readonly purl: string;
  /** SHA-512 of the package in the registry, hexadecimal. */
  readonly sha512?: string;
  /** Names of the programs, or `images`. */
  readonly within: readonly string[];
}

/** Parts of Node in `process.versions` that are not libraries. */
const NO_LIBRARIES: ReadonlySet<string> = new Set(['node', 'modules', 'napi', 'unicode', 'tz', 'cldr']);

/**
 * The licenses of Node's libraries, by their names in `process.versions`, in SPDX. LICENSES.txt has their texts, but
 * for SQLite, which is in the public domain.
 */
const NODE_LICENSES: Readonly<Record<string, string>> = {
  acorn: 'MIT',
  ada: 'MIT',
  amaro: 'MIT',
  ares: 'MIT',
  brotli: 'MIT',
  icu: 'Unicode-3.0',
  libffi: 'MIT',
  lief: 'Apache-2.0',
  llhttp: 'MIT',
  merve: 'MIT',
  nbytes: 'MIT',
  ncrypto: 'MIT',
  nghttp2: 'MIT',
  openssl: 'Apache-2.0',
  simdjson: 'Apache-2.0',
  simdutf: 'MIT',
  sqlite: 'blessing',
  undici: 'MIT',
  uv: 'MIT',
  uvwasi: 'MIT',
  v8: 'BSD-3-Clause',
  zlib: 'Zlib',
  zstd: 'BSD-3-Clause',
};

export async function componentsOfExecutables(): Promise<Component[]> {
  const within = new Map<string, string[]>();
  for (const { name, entry } of PROGRAMS)
    for (const folder of new Set((await bundle(entry)).packages))
      within.set(folder, [...(within.get(folder) ?? []), name]);
  const programs = PROGRAMS.map(({ name }) => name);
  const packages = [...within].map(([folder, names]) => npmComponent(folder, names));
  // A package may be in several folders.
  const unique = new Map(packages.map((each) => [each.purl, each]));
  for (const [purl, each] of unique) {
    const names = packages.filter((other) => other.purl === purl).flatMap((other) => other.within);
    unique.set(purl, { ...each, within: [...new Set(names)].sort() });
  }
  return [...unique.values(), ...componentsOfNode(programs)].sort(byPurl);
}

/** @param ours Content of the executables in the images. */
export function componentsOfImages(
  processor: Processor,
  programs: Record<string, string>,
  ours: Buffer[],
): Component[] {
  const files = systemFiles({ processor, root: '/' }, programs, ours);
  const names = [...files.keys()].flatMap((path) => /^usr\/share\/doc\/(.+)\/copyright$/.exec(path)?.[1] ?? []);
  return names.map(debianComponent(processor)).sort(byPurl);
}

function npmComponent(folder: string, within: readonly string[]): Component {
  const { name, version, license } = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8')) as {
    name: string;
    version: string;
    license?: string;
  };
  const sha512 = integrityOf(folder);
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  return { name, version, purl, within, ...(license && { license }), ...(sha512 && { sha512 }) };
}

/** The checksum that `npm ci` has verified. */
function integrityOf(folder: string): string | undefined {
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { integrity?: string }>;
  };
  const [, digest] = /^sha512-(.+)$/.exec(packages[folder]?.integrity ?? '') ?? [];
  return digest && Buffer.from(digest, 'base64').toString('hex');
}

function componentsOfNode(within: readonly string[]): Component[] {
  const { node = '', ...libraries } = process.versions;
  const parts = Object.entries(libraries).flatMap(([name, version]) =>
    !version || NO_LIBRARIES.has(name) ? [] : [libraryOfNode(name, version, within)],
  );
  return [{ name: 'node', version: node, license: 'MIT', purl: `pkg:generic/node@${node}`, within }, ...parts];
}

/** A library that NODE_LICENSES lacks has no license; a test finds it. */
function libraryOfNode(name: string, version: string, within: readonly string[]): Component {
  const license = NODE_LICENSES[name];
  return { name, version, purl: `pkg:generic/${name}@${version}`, within, ...(license && { license }) };
}

function debianComponent(processor: Processor): (name: string) => Component {
  return (name) => {
    const args = ['--show', '--showformat=${Version}', `${name}:${PROCESSORS[processor].image}`];
    const version = execFileSync('dpkg-query', args, { encoding: 'utf8' });
    const architecture = PROCESSORS[processor].image;
    return {
      name,
      version,
      purl: `pkg:deb/debian/${name}@${encodeURIComponent(version)}?arch=${architecture}`,
      licenseNames: debianLicenses(name, readFileSync(`/usr/share/doc/${name}/copyright`, 'utf8')),
      within: ['images'],
    };
  };
}

/**
 * The names in a file `copyright` of a package, which the images contain, if the file has the machine-readable format
 * (https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/); else its path.
 */
export function debianLicenses(name: string, copyright: string): readonly string[] {
  if (!copyright.startsWith('Format:')) return [`as in usr/share/doc/${name}/copyright`];
  const names = [...copyright.matchAll(/^License:[ \t]*(\S.*?)[ \t]*$/gim)].map(([, license = '']) => license);
  return [...new Set(names)].sort();
}

function byPurl(a: Component, b: Component): number {
  return a.purl < b.purl ? -1 : 1;
}
