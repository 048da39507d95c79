// Encryption between the two ends of a circuit, so that routers in between see only cipher text: key agreement (libsodium's
// crypto_kx), then one stream per direction (secretstream). The first message each way is the stream's header
// (reference fact: edge, section 7).

import { createRequire } from 'node:module';
import { ProjectError } from '#lib/errors.ts';

/** The part of libsodium that is used here; the package has no types. */
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
/** Bytes that a sealed message is longer than its clear text. */
export const SEAL_LENGTH = 17;
const TAG_LENGTH = 1;

/** Loaded at the first encrypted circuit: a router without any does not pay for it. */
function sodium(): Sodium {
  loaded ??= createRequire(import.meta.url)('sodium-native') as Sodium;
  return loaded;
}

export interface KeyPair {
  readonly publicKey: Buffer;
  readonly secretKey: Buffer;
}

/** A fresh X25519 pair; with `seed` (32 bytes) a repeatable one, for tests. */
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

/** `dialer` is the side that opened the circuit, `host` the one that was dialed. Throws EncryptionError for a bad peer key. */
export function sessionKeys(role: 'dialer' | 'host', own: KeyPair, peerPublicKey: Buffer): SessionKeys {
  const lib = sodium();
  if (peerPublicKey.length !== lib.crypto_kx_PUBLICKEYBYTES)
    throw new EncryptionError(`the peer's public key has ${peerPublicKey.length} bytes`);
  const rx = Buffer.alloc(lib.crypto_kx_SESSIONKEYBYTES);
  const tx = Buffer.alloc(lib.crypto_kx_SESSIONKEYBYTES);
  try {
    if (role === 'dialer') lib.crypto_kx_client_session_keys(rx, tx, own.publicKey, own.secretKey, peerPublicKey);
    else lib.crypto_kx_server_session_keys(rx, tx, own.publicKey, own.secretKey, peerPublicKey);
  } catch (error) {
    throw new EncryptionError("the peer's public key is not acceptable", { cause: error });
  }
  return { rx, tx };
}

/** Both directions of one end. */
export class EncryptedStream {
  /** Goes out as the first message, unencrypted. */
  readonly header: Buffer;
  readonly #push: Buffer;
  readonly #rx: Buffer;
  readonly #messageTag: Buffer | number;
  /** Where libsodium writes the tag of a message. */
  readonly #tag = Buffer.alloc(TAG_LENGTH);
  #pull: Buffer | undefined;

  constructor(keys: SessionKeys) {
    const lib = sodium();
    this.#messageTag = lib.crypto_secretstream_xchacha20poly1305_TAG_MESSAGE;
    this.header = Buffer.alloc(lib.crypto_secretstream_xchacha20poly1305_HEADERBYTES);
    this.#push = Buffer.alloc(lib.crypto_secretstream_xchacha20poly1305_STATEBYTES);
    this.#rx = keys.rx;
    lib.crypto_secretstream_xchacha20poly1305_init_push(this.#push, this.header, keys.tx);
  }

  /** The cipher text, `SEAL_LENGTH` bytes longer than the data: in `into` where it has room, otherwise in a new buffer. */
  seal(data: Buffer, into?: Buffer): Buffer {
    const lib = sodium();
    const cipher = roomOf(data.length + SEAL_LENGTH, into);
    lib.crypto_secretstream_xchacha20poly1305_push(this.#push, cipher, data, null, this.#messageTag);
    return cipher;
  }

  /**
   * The clear text of a message, in `into` where it has room; undefined for the header that comes first. Throws EncryptionError.
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
