// Calls functions of Linux's C library through Node's own foreign function interface.

import { endianness } from 'node:os';
import { getSystemErrorMap } from 'node:util';
import { ProjectError } from '../errors.ts';

export type Signatures = Readonly<Record<string, { readonly arguments: readonly string[]; readonly return: string }>>;

export interface SystemLibrary<Functions> {
  readonly functions: Functions;
  /** Returns a non-negative result. @throws SystemCallError for a negative one; call it directly after the function */
  check(name: string, result: number | bigint): number;
  getRawPointer(buffer: Buffer): bigint;
}

/** A system call failed; `code` is the system's: EPERM, EADDRINUSE, … */
export class SystemCallError extends ProjectError {
  constructor(call: string, errno: number) {
    const [code = `errno ${errno}`, text = ''] = getSystemErrorMap().get(-errno) ?? [];
    super(code, `${call} failed: ${code} ${text}`.trim());
  }
}

/** The numeric values of system call flags are equal on these processors. */
const PROCESSORS: readonly string[] = ['x64', 'arm64', 'riscv64', 'loong64'];
const ERRNO = { __errno_location: { arguments: [], return: 'pointer' } };

/** The reason why the functions cannot be called here; undefined if they can. */
export function whyNoSystemLibrary(): string | undefined {
  if (process.platform !== 'linux' || !PROCESSORS.includes(process.arch) || endianness() !== 'LE')
    return `works on Linux on ${PROCESSORS.join(', ')} only, this is ${process.platform} on ${process.arch}`;
  if (foreignFunctions() === undefined) return `needs Node 26 or later, this is ${process.version}`;
  return undefined;
}

/** @throws ProjectError if `whyNoSystemLibrary` has a reason, or if the library lacks one of the functions */
export function systemLibrary<Functions>(signatures: Signatures): SystemLibrary<Functions> {
  const ffi = foreignFunctions();
  if (ffi === undefined) throw new ProjectError('SYSTEM_LIBRARY', `calling the system ${whyNoSystemLibrary()}`);
  const { functions } = ffi.dlopen(null, { ...signatures, ...ERRNO } as never);
  const { __errno_location: location } = functions as { __errno_location(): bigint };
  return {
    functions: functions as Functions,
    check(name, result) {
      const value = Number(result);
      if (value < 0) throw new SystemCallError(name, ffi.getInt32(location(), 0));
      return value;
    },
    getRawPointer: (buffer) => ffi.getRawPointer(buffer),
  };
}

/** Undefined if Node lacks the interface. */
function foreignFunctions(): typeof import('node:ffi') | undefined {
  const { emitWarning } = process;
  // Hides Node's warning about its experimental interface, which would go to stderr, the log of the daemon.
  process.emitWarning = () => undefined;
  try {
    return process.getBuiltinModule('node:ffi');
  } finally {
    process.emitWarning = emitWarning;
  }
}
