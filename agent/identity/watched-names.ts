// Where changes of files are visible: folders instead of files, because renaming replaces the watched file. If symbolic
// links lead to a file, a change may replace any of them. Kubernetes replaces one for all files of a volume:
//
//   /etc/identity/tls.crt ─► ..data/tls.crt,  /etc/identity/..data ─► ..2026_01_02/

import { basename, dirname, relative, resolve, sep } from 'node:path';
import { linkTarget, MAX_LINKS } from '#lib/files/symbolic-links.ts';

/** By folder: the names in it whose change may change one of the files. */
export function watchedNames(files: readonly string[]): Map<string, Set<string>> {
  const names = new Map<string, Set<string>>();
  const add = (path: string) => names.set(dirname(path), (names.get(dirname(path)) ?? new Set()).add(basename(path)));
  for (const file of files) {
    let path = resolve(file);
    for (let links = 0; links < MAX_LINKS; links++) {
      const link = firstLink(path);
      if (!link) break;
      add(link.path);
      path = resolve(dirname(link.path), link.target, relative(link.path, path));
    }
    add(path);
  }
  return names;
}

function firstLink(path: string): { path: string; target: string } | undefined {
  const parts = path.split(sep);
  for (let length = 2; length <= parts.length; length++) {
    const part = parts.slice(0, length).join(sep);
    const target = linkTarget(part);
    if (target !== undefined) return { path: part, target };
  }
  return undefined;
}
