// The other user of other-user.ts: gives up the rights of root, tries each path, and prints what it reaches.

import { closeSync, openSync, readdirSync, readFileSync, rmSync, type Stats, statSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';

/** `nobody`; the number has no files and no processes. */
const USER = 65_534;

const { folder, paths } = JSON.parse(readFileSync(0, 'utf8')) as { folder: string; paths: string[] };
process.setgroups?.([]);
process.setgid?.(USER);
process.setuid?.(USER);
const reached: string[] = [];
for (const path of paths) for (const way of await waysTo(join(folder, path))) reached.push(`${way} ${path}`);
process.stdout.write(JSON.stringify(reached.sort()));

async function waysTo(path: string): Promise<string[]> {
  const found = succeeds(() => statSync(path)) ? statSync(path) : undefined;
  if (!found) return [];
  if (found.isSocket()) return (await connects(path)) ? ['connects to'] : [];
  return waysToFile(path, found);
}

function waysToFile(path: string, found: Stats): string[] {
  const isFolder = found.isDirectory();
  const added = join(path, 'added by another user');
  const reads = succeeds(() => (isFolder ? readdirSync(path) : closeSync(openSync(path, 'r'))));
  const changes = succeeds(() => closeSync(isFolder ? openSync(added, 'wx') : openSync(path, 'r+')));
  if (isFolder && changes) rmSync(added);
  return [...(reads ? [isFolder ? 'lists' : 'reads'] : []), ...(changes ? ['changes'] : [])];
}

function succeeds(work: () => unknown): boolean {
  try {
    work();
    return true;
  } catch {
    return false;
  }
}

function connects(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path, () => (socket.destroy(), resolve(true)));
    socket.once('error', () => resolve(false));
  });
}
