// A socket as the client of a circuit end: proxied connections, connections to hosted services. Each read is one payload; a half
// close travels as FIN and EOF; with encryption each read is one sealed chunk (reference fact: tunnel, section 1).

import type { Socket } from 'node:net';
import type { Clock } from '#lib/clock.ts';
import { describeError } from '#lib/errors.ts';
import type { Log } from '#lib/log.ts';
import { EdgeFlag, PayloadHeader } from '#wire/gen/numbers.ts';
import type { EncryptedStream } from './end-to-end.ts';
import type { Xgress, XgressClient } from './xgress.ts';

export interface SocketClientInit {
  socket: Socket;
  /** The socket can end one direction and go on with the other. */
  halfClose: boolean;
  encryption?: EncryptedStream | undefined;
  clock: Clock;
  log: Log;
}

/** How long a client may take to read what is left when its circuit is over. */
const FLUSH_TIME = 10_000;

export class SocketClient implements XgressClient {
  readonly #socket: Socket;
  readonly #halfClose: boolean;
  readonly #encryption: EncryptedStream | undefined;
  readonly #clock: Clock;
  readonly #log: Log;
  #xgress: Xgress | undefined;
  #headerSent = false;
  #readEnded = false;
  #writeEnded = false;

  constructor(init: SocketClientInit) {
    this.#socket = init.socket;
    this.#halfClose = init.halfClose;
    this.#encryption = init.encryption;
    this.#clock = init.clock;
    this.#log = init.log;
    this.#socket.pause();
    this.#socket.setNoDelay(true);
  }

  /** Connects the two; call before the xgress is started. */
  attach(xgress: Xgress): void {
    this.#xgress = xgress;
    this.#socket.on('data', (data) => this.#onData(data as Buffer));
    this.#socket.on('end', () => this.#onEnd());
    this.#socket.on('drain', () => xgress.resume());
    this.#socket.on('error', (error) =>
      this.#log.debug({ circuitId: xgress.circuitId, error: describeError(error) }, 'client socket failed'),
    );
    this.#socket.on('close', () => this.#onClose());
    if (this.#socket.destroyed) setImmediate(() => this.#onClose());
  }

  deliver(data: Buffer, headers: ReadonlyMap<number, Buffer> | undefined): boolean {
    const clear = data.length === 0 ? data : this.#open(data);
    const taken = clear === undefined || clear.length === 0 || this.#writeEnded ? true : this.#socket.write(clear);
    if (isFin(headers)) this.end();
    return taken;
  }

  end(): void {
    if (this.#writeEnded) return;
    this.#writeEnded = true;
    if (this.#halfClose || this.#readEnded) this.#socket.end();
    else this.#socket.destroySoon();
  }

  closed(): void {
    this.#writeEnded = true;
    if (this.#socket.destroyed) return;
    this.#socket.destroySoon();
    const timer = this.#clock.after('client socket flush', FLUSH_TIME, () => this.#socket.destroy());
    this.#socket.once('close', () => timer.cancel());
  }

  writable(): void {
    if (this.#encryption && !this.#headerSent) {
      this.#headerSent = true;
      if (!this.#xgress?.write(this.#encryption.header)) return;
    }
    this.#socket.resume();
  }

  #onData(data: Buffer): void {
    if (!this.#xgress?.write(this.#encryption ? this.#encryption.seal(data) : data)) this.#socket.pause();
  }

  #onEnd(): void {
    this.#readEnded = true;
    if (this.#halfClose) this.#xgress?.end({ fin: true });
    else this.#xgress?.close();
  }

  #onClose(): void {
    const xgress = this.#xgress;
    if (!xgress || xgress.isClosed) return;
    if (!this.#readEnded) xgress.end({ fin: this.#halfClose });
    if (!this.#writeEnded) xgress.refuseData();
    this.#readEnded = true;
    this.#writeEnded = true;
  }

  #open(data: Buffer): Buffer | undefined {
    if (!this.#encryption) return data;
    try {
      return this.#encryption.open(data);
    } catch (error) {
      this.#log.warn(
        { circuitId: this.#xgress?.circuitId, error: describeError(error) },
        'circuit closed: its data cannot be decrypted',
      );
      this.#socket.destroy();
      this.#xgress?.close();
      return undefined;
    }
  }
}

function isFin(headers: ReadonlyMap<number, Buffer> | undefined): boolean {
  const flags = headers?.get(PayloadHeader.EdgeFlags);
  return flags?.length === 4 && (flags.readUInt32LE() & EdgeFlag.Fin) !== 0;
}
