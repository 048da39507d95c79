// A TLS 1.3 client that writes records of its own after the handshake: changes of keys, data with padding. Node makes
// the handshake, and logs the secret from which the keys of the records come (RFC 8446, section 7).

import { createCipheriv, createHmac } from 'node:crypto';
import { once } from 'node:events';
import { connect as connectTcp, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { connect, type TLSSocket } from 'node:tls';
import type { Credentials } from './attacker.ts';

export interface RecordTarget {
  readonly port: number;
  readonly alpn?: string;
  readonly localAddress?: string;
  readonly credentials?: Credentials;
}

const CIPHER = { name: 'TLS_AES_128_GCM_SHA256', algorithm: 'aes-128-gcm', hash: 'sha256' } as const;
const KEY_LENGTH = 16;
const IV_LENGTH = 12;
const HASH_LENGTH = 32;
const TAG_LENGTH = 16;
const Type = { Handshake: 22, Data: 23 } as const;
/** A message that changes the keys of its sender, and asks for no change by the other side. */
const KEY_UPDATE = Buffer.from([24, 0, 0, 1, 0]);
const SECRET = /^CLIENT_TRAFFIC_SECRET_0 \S+ (\S+)/;

/** The encryption of what the client writes. */
export class Records {
  #secret: Buffer;
  #key: Buffer = Buffer.alloc(0);
  #iv: Buffer = Buffer.alloc(0);
  #count = 0n;

  constructor(secret: Buffer) {
    this.#secret = secret;
    this.#useSecret();
  }

  data(bytes: Uint8Array, padding = 0): Buffer {
    return this.#record(Type.Data, bytes, padding);
  }

  keyUpdate(): Buffer {
    const record = this.#record(Type.Handshake, KEY_UPDATE);
    this.#secret = expand(this.#secret, 'traffic upd', HASH_LENGTH);
    this.#useSecret();
    return record;
  }

  keyUpdates(count: number): Buffer {
    return Buffer.concat(Array.from({ length: count }, () => this.keyUpdate()));
  }

  #useSecret(): void {
    this.#key = expand(this.#secret, 'key', KEY_LENGTH);
    this.#iv = expand(this.#secret, 'iv', IV_LENGTH);
    this.#count = 0n;
  }

  #record(type: number, bytes: Uint8Array, padding = 0): Buffer {
    const content = Buffer.concat([bytes, Buffer.from([type]), Buffer.alloc(padding)]);
    const length = content.length + TAG_LENGTH;
    const head = Buffer.from([Type.Data, 3, 3, length >> 8, length & 0xff]);
    const nonce = Buffer.from(this.#iv);
    const before = nonce.readBigUInt64BE(IV_LENGTH - 8);
    nonce.writeBigUInt64BE(before ^ this.#count++, IV_LENGTH - 8);
    const cipher = createCipheriv(CIPHER.algorithm, this.#key, nonce).setAAD(head);
    return Buffer.concat([head, cipher.update(content), cipher.final(), cipher.getAuthTag()]);
  }
}

export interface RecordClient {
  /** Write records here. */
  readonly network: Duplex;
  readonly records: Records;
  /** Reads the answers. */
  readonly socket: TLSSocket;
}

/** A client over TCP. */
export async function openRecords({ port, localAddress, ...target }: RecordTarget): Promise<RecordClient> {
  const network: Socket = connectTcp({ host: '127.0.0.1', port, ...(localAddress && { localAddress }) });
  network.on('error', () => undefined); // its 'close' follows
  await once(network, 'connect');
  return recordsOver(network, target);
}

/** A client over another stream. */
export async function recordsOver(
  network: Duplex,
  { alpn, credentials }: Omit<RecordTarget, 'port' | 'localAddress'>,
): Promise<RecordClient> {
  // Node's TLS must not take the stream, to which the caller writes.
  const between = new Duplex({
    read: () => undefined,
    write: (chunk, _encoding, done) => void network.write(chunk, () => done()),
    final: (done) => done(),
  });
  network.on('data', (chunk: Buffer) => between.push(chunk)).once('close', () => between.destroy());
  const socket = connect({
    socket: between,
    rejectUnauthorized: false,
    ciphers: CIPHER.name,
    minVersion: 'TLSv1.3',
    ...credentials,
    ...(alpn !== undefined && { ALPNProtocols: [alpn] }),
  });
  let secret = '';
  socket.on('error', () => undefined);
  socket.on('keylog', (line: Buffer) => {
    secret ||= SECRET.exec(line.toString())?.[1] ?? '';
  });
  await once(socket, 'secureConnect');
  return { network, records: new Records(Buffer.from(secret, 'hex')), socket };
}

function expand(secret: Buffer, label: string, length: number): Buffer {
  const name = Buffer.from(`tls13 ${label}`);
  const info = Buffer.concat([Buffer.from([0, length, name.length]), name, Buffer.from([0, 1])]);
  return createHmac(CIPHER.hash, secret).update(info).digest().subarray(0, length);
}
