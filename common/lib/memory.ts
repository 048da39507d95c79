// Memory that is kept for growth, given back to the system: V8 keeps pages of its heap, and the C library keeps what buffers of the network
// were made of. For programs that rest for long after a burst; it takes some tens of milliseconds, so only who is idle may ask for it.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { sharedBuffers } from './buffer-pool.ts';

type Collect = (options: { type: 'major'; execution: 'sync'; flavor: 'last-resort' }) => void;

/** The part of node:ffi that is used here; not every build of Node has it, and it has no types yet. */
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

/** Where the C library is another one there is nothing to trim, and nothing is lost. */
function trimmer(): () => void {
  const emitWarning = process.emitWarning;
  // That the module is experimental is no news for who runs a program: without it the program works as well.
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
