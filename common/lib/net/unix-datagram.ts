// Sends datagrams to a Unix socket, which Node does not support.

import { type SystemLibrary, systemLibrary } from '../process/system-library.ts';

const AF_UNIX = 1;
const SOCK_DGRAM = 2;
const SOCK_CLOEXEC = 0o2000000;
const MSG_DONTWAIT = 0x40;
const MSG_NOSIGNAL = 0x4000;
/** Bytes of a path in an address. */
const MAX_PATH_LENGTH = 107;
const INT = 'i32';
const SIGNATURES = {
  socket: { arguments: [INT, INT, INT], return: INT },
  sendto: { arguments: [INT, 'buffer', 'u64', INT, 'buffer', 'u32'], return: 'i64' },
  close: { arguments: [INT], return: INT },
};

type Calls = Readonly<Record<keyof typeof SIGNATURES, (...args: (number | bigint | Buffer)[]) => number | bigint>>;

/** The system's address of a path, or of an abstract name (`@name`). @throws RangeError if it is too long */
export function unixAddress(path: string): Buffer {
  const name = Buffer.from(path.startsWith('@') ? `\0${path.slice(1)}` : path);
  if (name.length > MAX_PATH_LENGTH)
    throw new RangeError(`the path of a socket may have at most ${MAX_PATH_LENGTH} bytes: ${path}`);
  const family = Buffer.alloc(2);
  family.writeUInt16LE(AF_UNIX);
  return Buffer.concat([family, name]);
}

export class UnixDatagramSender {
  readonly #library: SystemLibrary<Calls>;
  readonly #address: Buffer;
  readonly #socket: number;

  /** @throws RangeError, SystemCallError, and if `whyNoSystemLibrary` has a reason */
  constructor(path: string) {
    this.#address = unixAddress(path);
    this.#library = systemLibrary<Calls>(SIGNATURES);
    const { functions, check } = this.#library;
    this.#socket = check('socket', functions.socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  }

  /** Does not wait: throws SystemCallError, with code EAGAIN if the receiver's queue is full. */
  send(text: string): void {
    const bytes = Buffer.from(text);
    const { functions, check } = this.#library;
    const flags = MSG_DONTWAIT | MSG_NOSIGNAL;
    const length = BigInt(bytes.length);
    check('sendto', functions.sendto(this.#socket, bytes, length, flags, this.#address, this.#address.length));
  }

  close(): void {
    this.#library.functions.close(this.#socket);
  }
}
