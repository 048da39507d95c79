// The descriptor of a socket, for code that Node's streams do not reach. Descriptors belong to the process: every
// thread can use them.

import { type SystemLibrary, systemLibrary, whyNoSystemLibrary } from '../process/system-library.ts';

type Calls = Readonly<{ fcntl(fd: number, command: number, value: number): number }>;

const SIGNATURES = { fcntl: { arguments: ['i32', 'i32', 'i32'], return: 'i32' } };
/** `F_DUPFD_CLOEXEC` (fcntl(2)): programs that the process starts do not inherit the copy. */
const COPY = 1030;
let library: SystemLibrary<Calls> | undefined;

/** Undefined for streams other than connections, and for closed ones. */
export function descriptorOf(stream: object): number | undefined {
  const fd = (stream as { _handle?: { fd?: number } | null })._handle?.fd;
  return typeof fd === 'number' && fd >= 0 ? fd : undefined;
}

/** Reads nothing more from the system; bytes that were read before stay in the stream. */
export function stopReading(stream: object): void {
  const handle = (stream as { _handle?: { reading: boolean; readStop(): void } | null })._handle;
  if (!handle?.reading) return;
  handle.reading = false;
  handle.readStop();
}

/**
 * A second descriptor of the same connection, which stays open until both are closed; undefined for streams without a
 * descriptor, without a free one, and where Node cannot call the system.
 */
export function copyDescriptor(stream: object): number | undefined {
  const fd = descriptorOf(stream);
  if (fd === undefined || whyNoSystemLibrary() !== undefined) return undefined;
  library ??= systemLibrary<Calls>(SIGNATURES);
  const copy = library.functions.fcntl(fd, COPY, 0);
  return copy < 0 ? undefined : copy;
}
