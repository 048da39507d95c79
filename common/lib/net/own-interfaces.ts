// The network interfaces of this machine.

import { networkInterfaces } from 'node:os';

export type OwnInterfaces = ReturnType<typeof networkInterfaces>;

let known: OwnInterfaces = {};

/** By name. Reading them needs a file descriptor: without one, returns those of the last call. */
export function ownInterfaces(): OwnInterfaces {
  try {
    known = networkInterfaces();
  } catch {
    // a busy router may have no descriptor left; it must not end for this
  }
  return known;
}
