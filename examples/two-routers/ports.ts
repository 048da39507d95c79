// Ports for programs that need a fixed one: free at the time of the check, and claimed by a file, so that another
// process does not choose the same one before the program listens.

import { randomInt } from 'node:crypto';
import { rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { errorCode } from '#lib/errors.ts';
import { claimPrivateFolder } from '#lib/files/atomic-file.ts';

/**
 * The system gives ports above this range to programs that leave the choice to it, and to outgoing connections: Linux
 * from 32768, others from 49152. A port below stays free until its program starts.
 */
const FIRST = 10_000;
const END = 32_768;
/** Attempts for each port. */
const MAX_ATTEMPTS = 100;

/** Milliseconds after which a claim counts as left behind by a killed process. */
const MAX_CLAIM_MS = 86_400_000;

/** Ports that this process has tried. */
const taken = new Set<number>();
/** Files of the claims of this process. */
const claims = new Set<string>();
let folder: string | undefined;

/** Returns this many free ports of the loopback address, none of them twice. */
export function freePorts(count: number): Promise<number[]> {
  return Promise.all(Array.from({ length: count }, freePort));
}

async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const port = randomInt(FIRST, END);
    if (taken.has(port)) continue;
    taken.add(port);
    if (claim(port) && (await isFree(port))) return port;
  }
  throw new Error(`no free port of 127.0.0.1 was found in ${MAX_ATTEMPTS} attempts`);
}

/** Returns false if another process has claimed the port. Claims end with their process. */
function claim(port: number): boolean {
  folder ??= openFolder();
  const file = join(folder, String(port));
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' });
    claims.add(file);
    return true;
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') return true; // without claims, the check alone has to do
    if (Date.now() - (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0) > MAX_CLAIM_MS)
      rmSync(file, { force: true });
    return false;
  }
}

/** Another user's folder, or one that cannot be written to, is noticed at the first claim. */
function openFolder(): string {
  const path = join(tmpdir(), `edgeweave-ports-${process.getuid?.() ?? ''}`);
  try {
    claimPrivateFolder(path);
  } catch {
    return path;
  }
  process.once('exit', () => {
    for (const file of claims) rmSync(file, { force: true });
    try {
      rmdirSync(path);
    } catch {
      // Other processes have claims in it.
    }
  });
  return path;
}

function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
