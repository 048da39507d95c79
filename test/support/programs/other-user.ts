// Tries files as another user of this machine, and lists what every user sees of processes: their ports and arguments.
// Only root can become another user, and only Linux lists the rest.

import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { platform } from 'node:process';

/** The other user reads or changes a file, lists a folder or adds files to it, or connects to a socket. */
export type Reached = `${'reads' | 'changes' | 'lists' | 'connects to'} ${string}`;

const CHILD = join(import.meta.dirname, 'other-user-child.ts');
/** State of a listening socket in /proc/net/tcp. */
const LISTENING = '0A';

/** Why nothing can be tried as another user; undefined if it can. */
export function otherUserObstacle(): string | undefined {
  if (platform !== 'linux') return 'only Linux lists the files and ports of a process';
  return process.getuid?.() === 0 ? undefined : 'only root becomes another user';
}

/** Everything that another user reaches below a folder, sorted; paths are relative to it. */
export function reachedBelow(folder: string): Reached[] {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const { status, stdout, stderr } = spawnSync(process.execPath, [CHILD], {
    input: JSON.stringify({ folder, paths }),
    encoding: 'utf8',
    env: {},
  });
  if (status !== 0) throw new Error(`the other user failed: ${stderr}`);
  return JSON.parse(stdout) as Reached[];
}

/** A process and all that it has started. */
export function processesOf(pid: number): number[] {
  const parents = readdirSync('/proc').flatMap((name) => {
    const stat = /^\d+$/.test(name) ? quietly(`/proc/${name}/stat`) : '';
    const parent = /^.*\) \S+ (\d+)/s.exec(stat)?.[1];
    return parent === undefined ? [] : [[Number(name), Number(parent)] as const];
  });
  const found = [pid];
  for (const each of found) found.push(...parents.filter(([, parent]) => parent === each).map(([child]) => child));
  return found;
}

/** The ports on which processes listen, with their addresses in the kernel's form. */
export function listeningPorts(pids: readonly number[]): Map<number, string> {
  const inodes = new Set(pids.flatMap(socketsOf));
  const lines = ['tcp', 'tcp6'].flatMap((name) => quietly(`/proc/net/${name}`).split('\n').slice(1));
  const ports = new Map<number, string>();
  for (const line of lines) {
    const [, local = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/);
    const [address = '', port = ''] = local.split(':');
    if (state === LISTENING && inodes.has(inode)) ports.set(Number.parseInt(port, 16), address);
  }
  return ports;
}

/** The arguments of processes, which every user may list. */
export function argumentsOf(pids: readonly number[]): string {
  return pids.map((pid) => quietly(`/proc/${pid}/cmdline`).replaceAll('\0', ' ')).join('\n');
}

function socketsOf(pid: number): string[] {
  const folder = `/proc/${pid}/fd`;
  const names = ((): string[] => {
    try {
      return readdirSync(folder);
    } catch {
      return []; // it has ended
    }
  })();
  return names.flatMap((name) => {
    try {
      return /^socket:\[(\d+)\]$/.exec(readlinkSync(join(folder, name)))?.[1] ?? [];
    } catch {
      return []; // closed meanwhile
    }
  });
}

function quietly(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return ''; // its process has ended
  }
}
