// Counts the resources of this process: memory, sockets, timers. An attack test compares them before and after the
// attack.

import { readdirSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Milliseconds. */
const PATIENCE = 5_000;
const POLL = 50;
/** Number of polls without a decrease of memory beyond the noise in bytes. */
const STEADY_POLLS = 5;
const NOISE = 256 * 1024;
/** Connections and servers, TLS or not, as Node names them. */
const SOCKETS = new Set(['TCPSocketWrap', 'TCPServerWrap', 'TLSWrap', 'PipeWrap', 'TCPConnectWrap']);

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

export interface Holdings {
  /** Bytes on V8's heap and in buffers, after a garbage collection. */
  readonly memory: number;
  readonly sockets: number;
  readonly timers: number;
}

export function holdings(): Holdings {
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  const resources = process.getActiveResourcesInfo();
  return {
    memory: heapUsed + arrayBuffers,
    sockets: resources.filter((name) => SOCKETS.has(name)).length,
    timers: resources.filter((name) => name === 'Timeout').length,
  };
}

/**
 * Returns the resources beyond `before`. Waits until sockets and timers are released and memory stops decreasing:
 * buffers are freed some turns of the event loop after their collection. If something is never released, waits until
 * nothing has been for 5 s. Memory is in bytes and may be negative.
 */
export async function leftSince(before: Holdings): Promise<Holdings> {
  let end = performance.now() + PATIENCE;
  let open = Number.POSITIVE_INFINITY;
  let memory = Number.POSITIVE_INFINITY;
  let steady = 0;
  for (;;) {
    const now = holdings();
    const isFalling = now.memory - before.memory < memory - NOISE;
    memory = Math.min(memory, now.memory - before.memory);
    steady = isFalling ? 0 : steady + 1;
    if (now.sockets + now.timers < open) end = performance.now() + PATIENCE;
    open = Math.min(open, now.sockets + now.timers);
    const left = {
      memory,
      sockets: Math.max(0, now.sockets - before.sockets),
      timers: Math.max(0, now.timers - before.timers),
    };
    const isReleased = left.sockets === 0 && left.timers === 0;
    if ((isReleased && steady >= STEADY_POLLS) || performance.now() >= end) return left;
    await sleep(POLL);
  }
}

/** Descriptors of this process that are sockets, also those that Node does not know. Linux only. */
export function openSockets(): number {
  return readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).startsWith('socket:');
    } catch {
      return false; // the listing itself
    }
  }).length;
}
