// Reads the protocols that a TLS client wants from its first message, before any TLS runs (RFC 8446, section 4.1.2;
// RFC 7301, section 3.1). They decide who performs the handshake; the handshake itself reads the message again.

const HANDSHAKE_RECORD = 22;
const RECORD_HEAD = 5;
const CLIENT_HELLO = 1;
const PROTOCOLS = 16;
/** Bytes of the version and the random number after the head of the message. */
const FIXED = 2 + 32;

/** Whether further bytes change nothing: the first record is there as a whole, or they are not those of TLS. */
export function isFirstRecordWhole(bytes: Buffer): boolean {
  if (bytes.length > 0 && bytes[0] !== HANDSHAKE_RECORD) return true;
  return bytes.length >= RECORD_HEAD && bytes.length >= recordEnd(bytes);
}

function recordEnd(bytes: Buffer): number {
  return RECORD_HEAD + bytes.readUInt16BE(3);
}

/**
 * The protocols in the order of the client. None if the bytes are not the beginning of a TLS connection, or not the
 * whole message in one record.
 */
export function helloProtocols(bytes: Buffer): readonly string[] {
  if (bytes[0] !== HANDSHAKE_RECORD || !isFirstRecordWhole(bytes)) return [];
  try {
    return protocolsOf(new Fields(bytes.subarray(RECORD_HEAD, recordEnd(bytes))));
  } catch (error) {
    if (error instanceof RangeError) return []; // a length exceeds the message
    throw error;
  }
}

function protocolsOf(record: Fields): string[] {
  if (record.number(1) !== CLIENT_HELLO) return [];
  const message = record.block(3);
  message.skip(FIXED);
  message.block(1); // session id
  message.block(2); // ciphers
  message.block(1); // compression
  for (const extensions = message.block(2); extensions.hasMore; ) {
    const type = extensions.number(2);
    const extension = extensions.block(2);
    if (type === PROTOCOLS) return names(extension.block(2));
  }
  return [];
}

function names(list: Fields): string[] {
  const all: string[] = [];
  while (list.hasMore) all.push(list.block(1).text);
  return all;
}

/** Reads a message field by field. Each method throws RangeError beyond its end. */
class Fields {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get hasMore(): boolean {
    return this.#at < this.#bytes.length;
  }

  get text(): string {
    return this.#bytes.toString('latin1');
  }

  skip(length: number): void {
    if (length > this.#bytes.length - this.#at) throw new RangeError('the message ends early');
    this.#at += length;
  }

  /** An unsigned number of so many bytes. */
  number(length: number): number {
    const start = this.#at;
    this.skip(length);
    return this.#bytes.readUIntBE(start, length);
  }

  /** A block after its length, which has so many bytes. */
  block(length: number): Fields {
    const size = this.number(length);
    const start = this.#at;
    this.skip(size);
    return new Fields(this.#bytes.subarray(start, start + size));
  }
}
