// The pages of Node's program file in memory. The kernel maps what a start reads, about 60 MiB, and keeps it mapped
// while memory is free. Serving needs half of it, and gets it back page by page from the cache of the file system.

import { readFileSync, readlinkSync } from 'node:fs';
import { systemLibrary } from './system-library.ts';

export interface Mapping {
  readonly start: bigint;
  /** Bytes. */
  readonly length: bigint;
}

const MADV_DONTNEED = 4;
const SIGNATURES = { madvise: { arguments: ['u64', 'u64', 'i32'], return: 'i32' } };
/** Start, end, permissions and file. */
const HEADER = /^([0-9a-f]+)-([0-9a-f]+) (\S+) \S+ \S+ \S+ +(\S.*)$/;
const ANONYMOUS = /^Anonymous: +(\d+) kB$/;

let release: (() => void) | undefined;

/** Unmaps these pages, in about a millisecond. Has no effect on systems other than Linux. */
export function releaseProgramPages(): void {
  release ??= releaser();
  release();
}

function releaser(): () => void {
  try {
    const mappings = unchangedMappings(readFileSync('/proc/self/smaps', 'utf8'), readlinkSync('/proc/self/exe'));
    const { madvise } = systemLibrary<{ madvise(start: bigint, length: bigint, advice: number): number }>(
      SIGNATURES,
    ).functions;
    return () => {
      for (const { start, length } of mappings) madvise(start, length, MADV_DONTNEED);
    };
  } catch {
    return () => undefined; // the program works without it, too
  }
}

/**
 * Finds the mappings of a file that cannot be written and have no page of their own, which would be lost.
 *
 * @param smaps The content of `/proc/PID/smaps`.
 */
export function unchangedMappings(smaps: string, file: string): Mapping[] {
  const mappings: Mapping[] = [];
  let current: Mapping | undefined;
  for (const line of smaps.split('\n')) {
    const [, from, to, permissions = '', path] = HEADER.exec(line) ?? [];
    if (from !== undefined && to !== undefined) {
      const start = BigInt(`0x${from}`);
      const isCandidate = path === file && !permissions.includes('w');
      current = isCandidate ? { start, length: BigInt(`0x${to}`) - start } : undefined;
    } else if (current && ANONYMOUS.exec(line)?.[1] === '0') mappings.push(current);
  }
  return mappings;
}
