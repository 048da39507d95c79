// Puts the files of an image together: the system's in one layer, which upgrades of the program share, and ours in
// another one. All belong to root, and only the folder of the state and that of temporary files are writable.

import { posix } from 'node:path';
import type { ImageFiles, Processor } from './system-files.ts';
import { systemFiles } from './system-files.ts';
import type { TarEntry } from './tar.ts';

export interface Contents {
  /** Name of the image and of its program. */
  readonly name: string;
  readonly title: string;
  /** Programs of the system, or paths of its files, and the Debian packages that contain them. */
  readonly programs: Readonly<Record<string, string>>;
  readonly user: { readonly name: string; readonly id: number };
  /** Folder of the state, without a slash at the start. */
  readonly home: string;
  readonly links: Readonly<Record<string, string>>;
  readonly config: Readonly<Record<string, unknown>>;
}

export interface Sources {
  readonly processor: Processor;
  /** Root folder of a system for this processor. */
  readonly root: string;
  readonly program: Buffer;
  /** Licenses of the program's contents. */
  readonly licenses: Buffer;
}

const TEMPORARY = 0o1777;
/** The group may write too: some platforms choose a user of group 0 or of the group of a volume. */
const STATE = 0o770;
/** Empty folders at which container engines mount something. */
const MOUNTS = ['dev', 'proc', 'run', 'sys'];
/** Folders that are links in today's systems. */
const MERGED = ['bin', 'sbin', 'lib', 'lib64'];

/** The layers of an image, each in the order of its paths. */
export function layersOf(contents: Contents, { processor, root, program, licenses }: Sources): TarEntry[][] {
  const { name, programs, user, home, links } = contents;
  const system = systemFiles({ processor, root }, programs, [program]);
  const account = `${user.name}:x:${user.id}`;
  const text = (content: string) => Buffer.from(content);
  system.set('etc/passwd', text(`root:x:0:0:root:/:/bin/sh\n${account}:${user.id}::/${home}:/bin/sh\n`));
  system.set('etc/group', text(`root:x:0:\n${account}:\n`));
  system.set('etc/nsswitch.conf', text('hosts: files dns\n'));
  for (const each of MERGED) system.set(each, { target: `usr/${each}` });
  const own: ImageFiles = new Map();
  own.set(`usr/local/bin/${name}`, program);
  own.set(`usr/share/doc/${name}/LICENSES.txt`, licenses);
  for (const [path, target] of Object.entries(links)) own.set(path, { target });
  const base: TarEntry[] = [
    ...MOUNTS.map((path) => ({ path, mode: 0o755 })),
    ...MERGED.map((each) => ({ path: `usr/${each}`, mode: 0o755 })),
    { path: 'tmp', mode: TEMPORARY },
    { path: home, mode: STATE, uid: user.id, gid: user.id },
  ];
  return [entries(system, base), entries(own, [])];
}

function entries(files: ImageFiles, more: readonly TarEntry[]): TarEntry[] {
  const found = new Map<string, TarEntry>(more.map((each) => [each.path, each]));
  for (const [path, file] of files) {
    for (let folder = posix.dirname(path); folder !== '.'; folder = posix.dirname(folder))
      if (!found.has(folder)) found.set(folder, { path: folder, mode: 0o755 });
    found.set(
      path,
      Buffer.isBuffer(file) ? { path, mode: modeOf(path), content: file } : { path, mode: 0o777, ...file },
    );
  }
  return [...found.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

function modeOf(path: string): number {
  return /^usr\/(local\/)?s?bin\/|\/ld-linux/.test(path) ? 0o755 : 0o644;
}
