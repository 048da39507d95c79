// Returns memory that is reserved for growth to the system: V8 keeps pages of its heap, and the C library keeps the
// memory of network buffers. For programs that are idle for long after a burst. It takes some tens of milliseconds, so
// only idle programs may call it.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { sharedBuffers } from './buffer-pool.ts';

type Collect = (options: { type: 'major'; execution: 'sync'; flavor: 'last-resort' }) => void;

/** The part of node:ffi in use; not every build of Node has it, and it has no types yet. */
interface Ffi {
  dlopen(
    path: string,
    definitions: Readonly<Record<string, { returns: string; arguments: readonly string[] }>>,
  ): { functions: { malloc_trim(keep: bigint): unknown } };
}

const LIBRARY = 'libc.so.6';

let tools: { collect: Collect; trim: () => void } | undefined;

export function releaseMemory(): void {
  sharedBuffers.clear();
  tools ??= { collect: collector(), trim: trimmer() };
  tools.collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  tools.trim();
}

function collector(): Collect {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as Collect;
  setFlagsFromString('--no-expose-gc');
  return collect;
}

/** With another C library there is nothing to trim. */
function trimmer(): () => void {
  const emitWarning = process.emitWarning;
  // Hides the warning that the module is experimental: the program works without it too.
  process.emitWarning = () => undefined;
  try {
    const ffi = process.getBuiltinModule('node:ffi') as unknown as Ffi | undefined;
    const library = ffi?.dlopen(LIBRARY, { malloc_trim: { returns: 'int32', arguments: ['uint64'] } });
    return () => void library?.functions.malloc_trim(0n);
  } catch {
    return () => undefined;
  } finally {
    process.emitWarning = emitWarning;
  }
}
