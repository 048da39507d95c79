// Encryption between the two ends of a circuit, so that routers on the path see only cipher text: key agreement
// (libsodium's crypto_kx), then one stream per direction (secretstream). The first message in each direction is the
// stream's header (reference fact: edge, section 7).

import { createRequire } from 'node:module';
import { ProjectError } from '#lib/errors.ts';

/** The part of libsodium in use; the package has no types. */
interface Sodium {
  readonly crypto_kx_PUBLICKEYBYTES: number;
  readonly crypto_kx_SECRETKEYBYTES: number;
  readonly crypto_kx_SESSIONKEYBYTES: number;
  readonly crypto_secretstream_xchacha20poly1305_STATEBYTES: number;
  readonly crypto_secretstream_xchacha20poly1305_HEADERBYTES: number;
  readonly crypto_secretstream_xchacha20poly1305_TAG_MESSAGE: Buffer | number;
  crypto_kx_keypair(publicKey: Buffer, secretKey: Buffer): void;
  crypto_kx_seed_keypair(publicKey: Buffer, secretKey: Buffer, seed: Buffer): void;
  crypto_kx_client_session_keys(
    rx: Buffer,
    tx: Buffer,
    clientPublic: Buffer,
    clientSecret: Buffer,
    serverPublic: Buffer,
  ): void;
  crypto_kx_server_session_keys(
    rx: Buffer,
    tx: Buffer,
    serverPublic: Buffer,
    serverSecret: Buffer,
    clientPublic: Buffer,
  ): void;
  crypto_secretstream_xchacha20poly1305_init_push(state: Buffer, header: Buffer, key: Buffer): void;
  crypto_secretstream_xchacha20poly1305_push(
    state: Buffer,
    cipher: Buffer,
    message: Buffer,
    additional: Buffer | null,
    tag: Buffer | number,
  ): number;
  crypto_secretstream_xchacha20poly1305_init_pull(state: Buffer, header: Buffer, key: Buffer): void;
  crypto_secretstream_xchacha20poly1305_pull(
    state: Buffer,
    message: Buffer,
    tag: Buffer,
    cipher: Buffer,
    additional: Buffer | null,
  ): number;
}

export class EncryptionError extends ProjectError {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super('ENCRYPTION', message, options);
  }
}

let loaded: Sodium | undefined;
/** Bytes that sealing adds to a message. */
export const SEAL_LENGTH = 17;
const TAG_LENGTH = 1;

/** Loads libsodium for the first encrypted circuit, so that other routers do not pay for it. */
function sodium(): Sodium {
  loaded ??= createRequire(import.meta.url)('sodium-native') as Sodium;
  return loaded;
}

export interface KeyPair {
  readonly publicKey: Buffer;
  readonly secretKey: Buffer;
}

/** Creates an X25519 key pair: random, or derived from `seed` (32 bytes) for repeatable tests. */
export function makeKeyPair(seed?: Buffer): KeyPair {
  const lib = sodium();
  const publicKey = Buffer.alloc(lib.crypto_kx_PUBLICKEYBYTES);
  const secretKey = Buffer.alloc(lib.crypto_kx_SECRETKEYBYTES);
  if (seed) lib.crypto_kx_seed_keypair(publicKey, secretKey, seed);
  else lib.crypto_kx_keypair(publicKey, secretKey);
  return { publicKey, secretKey };
}

export interface SessionKeys {
  readonly rx: Buffer;
  readonly tx: Buffer;
}

/**
 * `dialer` is the side that opened the circuit, `host` the side that accepted it. @throws EncryptionError for an
 * invalid peer key.
 */
export function sessionKeys(role: 'dialer' | 'host', own: KeyPair, peerPublicKey: Buffer): SessionKeys {
  const lib = sodium();
  if (peerPublicKey.length !== lib.crypto_kx_PUBLICKEYBYTES)
    throw new EncryptionError(
      `the peer's public key has ${peerPublicKey.length} bytes, not ${lib.crypto_kx_PUBLICKEYBYTES}: routers encrypt with libsodium only, not with AES-GCM`,
    );
  const rx = Buffer.alloc(lib.crypto_kx_SESSIONKEYBYTES);
  const tx = Buffer.alloc(lib.crypto_kx_SESSIONKEYBYTES);
  try {
    if (role === 'dialer') lib.crypto_kx_client_session_keys(rx, tx, own.publicKey, own.secretKey, peerPublicKey);
    else lib.crypto_kx_server_session_keys(rx, tx, own.publicKey, own.secretKey, peerPublicKey);
  } catch (error) {
    throw new EncryptionError("the peer's public key is invalid", { cause: error });
  }
  return { rx, tx };
}

/** The streams of both directions between two messages. It is secret. */
export interface StreamState {
  readonly header: Uint8Array;
  readonly push: Uint8Array;
  readonly rx: Uint8Array;
  /** Undefined before the header of the other end has arrived. */
  readonly pull: Uint8Array | undefined;
}

/** The streams of both directions at one end. */
export class EncryptedStream {
  /** Sent as the first message, unencrypted. */
  readonly header: Buffer;
  readonly #push: Buffer;
  readonly #rx: Buffer;
  readonly #messageTag: Buffer | number;
  /** Memory to which libsodium writes the tag of a message. */
  readonly #tag = Buffer.alloc(TAG_LENGTH);
  #pull: Buffer | undefined;

  private constructor({ header, push, rx, pull }: StreamState) {
    this.#messageTag = sodium().crypto_secretstream_xchacha20poly1305_TAG_MESSAGE;
    this.header = Buffer.from(header);
    this.#push = Buffer.from(push);
    this.#rx = Buffer.from(rx);
    this.#pull = pull && Buffer.from(pull);
  }

  /** New streams with the keys of a circuit. */
  static begin({ rx, tx }: SessionKeys): EncryptedStream {
    const lib = sodium();
    const header = Buffer.alloc(lib.crypto_secretstream_xchacha20poly1305_HEADERBYTES);
    const push = Buffer.alloc(lib.crypto_secretstream_xchacha20poly1305_STATEBYTES);
    lib.crypto_secretstream_xchacha20poly1305_init_push(push, header, tx);
    return new EncryptedStream({ header, push, rx, pull: undefined });
  }

  /** Goes on with the streams of another thread, which must not use them any more. */
  static resume(state: StreamState): EncryptedStream {
    return new EncryptedStream(state);
  }

  /**
   * For `resume` in another thread. They are copies, because a message to a thread has all memory that a buffer is a
   * part of.
   */
  get state(): StreamState {
    const copy = (part: Buffer) => new Uint8Array(part);
    return {
      header: copy(this.header),
      push: copy(this.#push),
      rx: copy(this.#rx),
      pull: this.#pull && copy(this.#pull),
    };
  }

  /** Returns the cipher text, `SEAL_LENGTH` bytes longer than the data: in `into` if it fits, else in a new buffer. */
  seal(data: Buffer, into?: Buffer): Buffer {
    const lib = sodium();
    const cipher = roomOf(data.length + SEAL_LENGTH, into);
    lib.crypto_secretstream_xchacha20poly1305_push(this.#push, cipher, data, null, this.#messageTag);
    return cipher;
  }

  /**
   * Returns the clear text of a message, in `into` if it fits; undefined for the header, which arrives first.
   * @throws EncryptionError
   */
  open(message: Buffer, into?: Buffer): Buffer | undefined {
    const lib = sodium();
    if (!this.#pull) {
      if (message.length !== lib.crypto_secretstream_xchacha20poly1305_HEADERBYTES)
        throw new EncryptionError(`the first message has ${message.length} bytes instead of a stream header`);
      this.#pull = Buffer.alloc(lib.crypto_secretstream_xchacha20poly1305_STATEBYTES);
      lib.crypto_secretstream_xchacha20poly1305_init_pull(this.#pull, message, this.#rx);
      return undefined;
    }
    const length = message.length - SEAL_LENGTH;
    if (length < 0) throw new EncryptionError('an encrypted message is too short');
    const clear = roomOf(length, into);
    try {
      lib.crypto_secretstream_xchacha20poly1305_pull(this.#pull, clear, this.#tag, message, null);
    } catch (error) {
      throw new EncryptionError('an encrypted message does not verify', { cause: error });
    }
    return clear;
  }
}

function roomOf(length: number, into: Buffer | undefined): Buffer {
  return into && into.length >= length ? into.subarray(0, length) : Buffer.allocUnsafe(length);
}
