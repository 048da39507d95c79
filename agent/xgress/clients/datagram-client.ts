// A UDP session as the client of a circuit end. Each datagram is one payload, or one sealed chunk if encrypted. UDP has
// no end and no back pressure: there is no half close, and datagrams that do not fit are dropped (reference fact:
// tunnel, section 1).
//
//   datagrams ─► receive ─► (queue until the circuit accepts data) ─► xgress ─► … ─► deliver ─► port

import { describeError, errorCode } from '#lib/errors.ts';
import type { Log } from '#lib/log/log.ts';
import type { Clock } from '#lib/time/clock.ts';
import { isFin } from '../end-marks.ts';
import type { Xgress } from '../xgress.ts';
import type { CircuitOutcome, XgressClient } from '../xgress-client.ts';
import type { EncryptedStream } from './end-to-end.ts';
import type { Idling } from './idle-sweeper.ts';

/** Sends the datagrams of a session. */
export interface DatagramPort {
  /** Sends one datagram. Calls `done` when its memory may be reused. */
  send(data: Buffer, done: (error: Error | null) => void): void;
  close(): void;
}

export interface DatagramClientInit {
  readonly port: DatagramPort;
  readonly encryption?: EncryptedStream | undefined;
  readonly clock: Clock;
  readonly log: Log;
  /** For sessions without a descriptor: the part of the buffer budget that they share. */
  readonly holder?: string | undefined;
  /** Limits the bytes that wait for all circuits of a listener. */
  readonly queue?: DatagramQueue | undefined;
  /** The session ended. Called once. */
  readonly onClosed?: () => void;
}

/** The bytes of datagrams that wait for a circuit. */
export interface DatagramQueue {
  /** Reserves bytes; returns false, and reserves nothing, if a limit is reached. */
  acquire(bytes: number): boolean;
  release(bytes: number): void;
}

/** Datagrams queued for the circuit; further ones are dropped. The reference has the same limit. */
const MAX_WAITING = 16;
/** Datagrams that the system has not sent yet; at this limit the circuit pauses until one is sent. */
const MAX_UNSENT = 64;
/** Error code for a datagram larger than the network accepts: only this datagram is lost. */
const TOO_LARGE = 'EMSGSIZE';

export class DatagramClient implements XgressClient, Idling {
  lastActive: number;
  readonly holder: string | undefined;
  /** Number of datagrams dropped because the circuit did not accept them. */
  dropped = 0;
  readonly #init: DatagramClientInit;
  #encryption: EncryptedStream | undefined;
  #xgress: Xgress | undefined;
  #started = false;
  /** The circuit has not called `writable` since a write that returned false. */
  #isBlocked = false;
  #closed = false;
  #waiting: Buffer[] = [];
  #unsent = 0;

  constructor(init: DatagramClientInit) {
    this.#init = init;
    this.#encryption = init.encryption;
    this.holder = init.holder;
    this.lastActive = init.clock.monotonic();
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  /**
   * Connects the client to its end; call before the xgress starts. Pass `encryption` if its keys are known only with
   * the circuit.
   */
  attach(xgress: Xgress, encryption?: EncryptedStream): void {
    this.#xgress = xgress;
    this.#encryption ??= encryption;
    if (this.#closed) setImmediate(() => xgress.abort());
  }

  /** Receives a datagram from the port. The caller must not change it afterwards. */
  receive(data: Buffer): void {
    this.#active();
    if (this.#closed) return;
    if (this.#started && !this.#isBlocked) this.#write(data);
    else if (this.#waiting.length < MAX_WAITING && this.#init.queue?.acquire(data.length) !== false)
      this.#waiting.push(data);
    else this.dropped++;
  }

  /** The port failed, for example because nothing listens at the destination. */
  fail(error: Error): void {
    if (this.#closed) return;
    const { log } = this.#init;
    log.debug({ circuitId: this.#xgress?.circuitId, error: describeError(error) }, 'UDP session failed');
    this.#close();
    this.#xgress?.abort();
  }

  onIdle(): void {
    this.#finish();
  }

  deliver(data: Buffer, headers: ReadonlyMap<number, Buffer> | undefined): boolean {
    this.#active();
    const clear = data.length === 0 ? undefined : this.#open(data);
    if (clear && !this.#closed) {
      this.#unsent++;
      this.#init.port.send(clear, (error) => this.#onSent(error));
    }
    if (isFin(headers)) this.#finish();
    return this.#unsent < MAX_UNSENT;
  }

  /** The peer sends no further data. UDP cannot signal that, so the session ends. */
  end(): void {
    this.#finish();
  }

  closed(_outcome: CircuitOutcome): void {
    this.#close();
  }

  writable(): void {
    this.#isBlocked = false;
    if (!this.#started) {
      this.#started = true;
      if (this.#encryption) this.#send(this.#encryption.header);
    }
    while (!this.#isBlocked) {
      const next = this.#waiting.shift();
      if (!next) return;
      this.#init.queue?.release(next.length);
      this.#write(next);
    }
  }

  /** UDP loses datagrams, so one that the budget has no room for is dropped. */
  #write(data: Buffer): void {
    if (this.#xgress?.fits(data.length) === false) this.dropped++;
    else this.#send(this.#encryption ? this.#encryption.seal(data) : data);
  }

  /** A window that closes later, without a write, does not block: no call of `writable` would follow. */
  #send(data: Buffer): void {
    this.#isBlocked = this.#xgress?.write(data) !== true;
  }

  #active(): void {
    this.lastActive = this.#init.clock.monotonic();
  }

  #onSent(error: Error | null): void {
    this.#unsent--;
    if (error && errorCode(error) !== TOO_LARGE) this.fail(error);
    this.#xgress?.resume();
  }

  /** Ends both directions in order. A circuit that has not started needs no end. */
  #finish(): void {
    if (this.#closed) return;
    this.#close();
    if (!this.#started) {
      this.#xgress?.abort();
      return;
    }
    this.#xgress?.end();
    this.#xgress?.rejectData();
  }

  #close(): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const { length } of this.#waiting) this.#init.queue?.release(length);
    this.#waiting = [];
    this.#init.port.close();
    this.#init.onClosed?.();
  }

  #open(data: Buffer): Buffer | undefined {
    if (!this.#encryption) return data;
    try {
      return this.#encryption.open(data);
    } catch (error) {
      this.#init.log.warn(
        { circuitId: this.#xgress?.circuitId, error: describeError(error) },
        'circuit cut: its data cannot be decrypted',
      );
      this.#close();
      this.#xgress?.abort();
      return undefined;
    }
  }
}
