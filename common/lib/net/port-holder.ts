// Finds the holder of a port on this machine: /proc of Linux lists the socket of the port and the processes that have
// it open. Best effort for messages: it never throws, reads a bounded amount, and sees only processes that this user
// may inspect.
//
//   /proc/net/tcp, tcp6 ─► inode of the socket ─► /proc/PID/fd ─► name of the program

import { open, readdir, readFile, readlink } from 'node:fs/promises';
import { basename } from 'node:path';

export type Network = 'tcp' | 'udp';

/** Bytes of a socket table. Listening sockets come first in it; connections follow. */
const MAX_TABLE_BYTES = 1024 * 1024;
/** Limit on inspected open files of all processes, so that a busy machine takes less than a second. */
const MAX_DESCRIPTORS = 50_000;
/** State `0A` is a listening TCP socket, `07` a UDP socket without a peer. */
const STATES: Readonly<Record<Network, string>> = { tcp: '0A', udp: '07' };

/** The answer for ports and files of this process. */
export const THIS_PROCESS = 'this process itself';

interface Holding {
  readonly inode: string;
  readonly user: number;
}

/** `nginx (pid 42)`; the user if this user may not inspect the process; undefined if the system does not report it. */
export async function portHolder(network: Network, port: number): Promise<string | undefined> {
  try {
    const tables = await Promise.all([network, `${network}6`].map((name) => readTable(`/proc/net/${name}`)));
    const holdings = tables.flatMap((table) => holdingsOf(table, STATES[network], port));
    if (holdings.length === 0) return undefined;
    const pid = await processWith(new Set(holdings.map(({ inode }) => `socket:[${inode}]`)));
    if (pid !== undefined) return await describe(pid);
    return `a process of the user with id ${holdings[0]?.user}`;
  } catch {
    return undefined; // /proc is missing or unreadable: the message omits the holder
  }
}

async function readTable(file: string): Promise<string> {
  try {
    await using handle = await open(file);
    const table = Buffer.alloc(MAX_TABLE_BYTES);
    let length = 0;
    while (length < MAX_TABLE_BYTES) {
      const { bytesRead } = await handle.read(table, length, MAX_TABLE_BYTES - length, null);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    return table.toString('latin1', 0, length);
  } catch {
    return ''; // a machine without IPv6 has no such table
  }
}

/**
 * Fields of a line: number, local address, remote address, state, queues, timer, retransmissions, user, timeout, inode.
 */
function holdingsOf(table: string, state: string, port: number): Holding[] {
  const end = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return table.split('\n').flatMap((line) => {
    const [, local = '', , found, , , , user, , inode = ''] = line.trim().split(/\s+/);
    return local.endsWith(end) && found === state && inode !== '0' ? [{ inode, user: Number(user) }] : [];
  });
}

async function processWith(sockets: ReadonlySet<string>): Promise<number | undefined> {
  let left = MAX_DESCRIPTORS;
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const descriptors = await readdir(`/proc/${name}/fd`).catch(() => []); // process of another user, or already ended
    for (const descriptor of descriptors) {
      if (left-- <= 0) return undefined;
      const target = await readlink(`/proc/${name}/fd/${descriptor}`).catch(() => '');
      if (sockets.has(target)) return Number(name);
    }
  }
  return undefined;
}

async function describe(pid: number): Promise<string> {
  if (pid === process.pid) return THIS_PROCESS;
  // Uses the program's file: the other name belongs to a thread, and arguments may contain secrets.
  const program = await readlink(`/proc/${pid}/exe`).catch(() => '');
  const name = basename(program.replace(/ \(deleted\)$/, '')) || (await threadName(pid)) || 'a process';
  return `${name} (pid ${pid})`;
}

async function threadName(pid: number): Promise<string> {
  return (await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '')).trim();
}
