// Keeps the memory of a daemon small: it limits how far V8's heap grows with garbage, and returns memory that is
// reserved for growth to the system.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { BufferPool } from '../queue/buffer-pool.ts';
import { releaseProgramPages } from './program-pages.ts';
import { systemLibrary } from './system-library.ts';

type Collect = (options: { type: 'major'; execution: 'sync'; flavor: 'last-resort' }) => void;

const SIGNATURES = { malloc_trim: { arguments: ['u64'], return: 'i32' } };
/**
 * Percent of garbage beside the objects in use after which V8 collects. By default it waits until the heap is up to
 * four times as large, because it assumes that programs may use gigabytes.
 */
const HEAP_GROWTH = 80;

let collect: Collect | undefined;
let spent = 0;
let trim: (() => void) | undefined;

/**
 * Trades a few percent of the processor time of short circuits for memory. Call it when all code is loaded: Node's
 * cache of compiled code is only valid for the flags that it was compiled with.
 */
export function limitHeapGrowth(): void {
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWTH}`);
}

/**
 * Stops V8 from collecting all garbage while the program is idle. Such a collection frees the hidden classes of objects
 * that no longer exist, and V8 then discards the code that it compiled for them (docs/experiments.md). Call it when all
 * code is loaded, like `limitHeapGrowth`.
 */
export function keepCompiledCode(): void {
  setFlagsFromString('--memory-reducer-gc-count=0');
}

/**
 * V8 keeps pages of its heap, and the C library the memory of network buffers. It takes some tens of milliseconds, so
 * only idle programs may call it.
 *
 * @param buffers Its idle blocks are freed, too.
 * @param enough Bytes. A program that is not larger without collecting garbage keeps its garbage and its compiled code.
 */
export function releaseMemory(buffers: BufferPool, enough = 0): void {
  const before = process.cpuUsage();
  buffers.clear();
  trimMemory(buffers);
  if (collectAll(enough)) trimMemory(buffers);
  const { user, system } = process.cpuUsage(before);
  spent += (user + system) / 1_000;
}

/**
 * Collects all garbage of this thread. Returns false, without doing so, if the program has not more than `enough`
 * bytes.
 */
export function collectAll(enough: number): boolean {
  if (residentMemory() <= enough) return false;
  collect ??= collector();
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  return true;
}

/** Processor time of all calls of `releaseMemory`, in milliseconds. The program did not need it for its own work. */
export function releaseTime(): number {
  return spent;
}

/**
 * Returns only the memory of the C library, pages of the program, and buffers that nobody needed since the last call.
 * It takes one or two milliseconds, so busy programs may call it, too.
 */
export function trimMemory(buffers: BufferPool): void {
  buffers.shed();
  trim ??= trimmer();
  trim();
  releaseProgramPages();
}

/** Bytes; none where the system does not tell it, as in a root folder without /proc. */
export function residentMemory(): number {
  try {
    return process.memoryUsage.rss();
  } catch {
    return 0;
  }
}

function collector(): Collect {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as Collect;
  setFlagsFromString('--no-expose-gc');
  return collect;
}

/** With another C library there is nothing to trim. */
function trimmer(): () => void {
  try {
    const { malloc_trim } = systemLibrary<{ malloc_trim(keep: bigint): number }>(SIGNATURES).functions;
    return () => void malloc_trim(0n);
  } catch {
    return () => undefined;
  }
}
