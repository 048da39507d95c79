// Functions of the system's C library, through Node's own foreign function interface.

type Ffi = typeof import('node:ffi');

export interface SystemLibrary<Functions> {
  readonly functions: Functions;
  readonly getInt32: Ffi['getInt32'];
  readonly getRawPointer: Ffi['getRawPointer'];
}

export type Signatures = Readonly<Record<string, { readonly arguments: readonly string[]; readonly return: string }>>;

/** Undefined with a Node that lacks the interface (before 26). Throws when the library lacks one of the functions. */
export function systemLibrary<Functions>(signatures: Signatures): SystemLibrary<Functions> | undefined {
  const { emitWarning } = process;
  // Node calls its interface experimental, on stderr, where the log of the daemon is.
  process.emitWarning = () => undefined;
  try {
    const ffi = process.getBuiltinModule('node:ffi') as Ffi | undefined;
    if (ffi === undefined) return undefined;
    const { functions } = ffi.dlopen(null, signatures as never) as unknown as { functions: Functions };
    return { functions, getInt32: ffi.getInt32, getRawPointer: ffi.getRawPointer };
  } finally {
    process.emitWarning = emitWarning;
  }
}
