// A connection of an SDK client that relies on the router's flow control: Data messages on one side, an xgress on the
// other (reference fact: edge, section 5.4).

import { TokenBucket } from '#lib/queue/token-bucket.ts';
import type { Clock, Timer } from '#lib/time/clock.ts';
import type { Frame } from '#wire/frame.ts';
import { EdgeFlag, PayloadHeader } from '#wire/gen/numbers.ts';
import { encodeUint32 } from '#wire/header-values.ts';
import type { CircuitEnd } from '../../../forwarder/destination.ts';
import type { Xgress } from '../../../xgress/xgress.ts';
import type { CircuitOutcome, XgressClient } from '../../../xgress/xgress-client.ts';
import { dataHead, type RejectionDetail, stateClosed } from '../clients/sdk-messages.ts';
import { type SdkTrace, traceToClient } from '../clients/sdk-trace.ts';
import type { ClientEnd, SdkLink } from './client-end.ts';

/** Bytes that a message needs beside its data: objects and headers. They also bound messages without data. */
const MESSAGE_OVERHEAD = 512;
const FIN_HEADERS: ReadonlyMap<number, Buffer> = new Map([[PayloadHeader.EdgeFlags, encodeUint32(EdgeFlag.Fin)]]);
const EMPTY = Buffer.alloc(0);
/** Trace routes of one circuit; further ones are dropped. */
const TRACES = { burst: 100, perSecond: 20 };
/** Delays above this many milliseconds are reported, as in the reference. */
const LONG_DELAY = 5;
/** Milliseconds that a client has to close a connection whose two directions have ended; then the router closes it. */
const CLOSE_GRACE = 500;

interface Waiting {
  readonly data: Buffer;
  readonly headers: ReadonlyMap<number, Buffer> | undefined;
  /** Monotonic time, if delays are measured. */
  readonly since?: number;
}

export interface DataClientInit {
  readonly clock: Clock;
  readonly link: SdkLink;
  readonly connectionId: number;
  /** The identity of the client. */
  readonly holder: string;
}

export class DataClient implements XgressClient, ClientEnd {
  readonly borrows = true;
  readonly holder: string;
  readonly connectionId: number;
  readonly #clock: Clock;
  readonly #link: SdkLink;
  readonly #onGone: () => void;
  #xgress: Xgress | undefined;
  /** Data from the client that waits for the circuit. */
  readonly #fromClient: Waiting[] = [];
  /** True until the circuit calls `writable`: initially, and after each write that returned false. */
  #isBlocked = true;
  /** Data for the client that waits for its connection: the last delivery of the xgress, and the end. */
  readonly #toClient: Waiting[] = [];
  #isClosed = false;
  /** The circuit drops all further data of the client. */
  #isRejected = false;
  #isGone = false;
  /** The circuit is complete: the client is notified after its last data. */
  #isComplete = false;
  #finSent = false;
  #grace: Timer | undefined;
  #traces: TokenBucket | undefined;

  /** `onGone` is called once, when neither side uses the connection any longer. */
  constructor({ clock, link, connectionId, holder }: DataClientInit, onGone: () => void) {
    this.holder = holder;
    this.#clock = clock;
    this.#link = link;
    this.connectionId = connectionId;
    this.#onGone = onGone;
  }

  get circuitEnd(): CircuitEnd | undefined {
    return this.#xgress;
  }

  /** Connects the client to its end; call before the xgress starts. */
  attach(xgress: Xgress): void {
    this.#xgress = xgress;
    if (this.#isGone) setImmediate(() => xgress.abort());
  }

  // From the client ---------------------------------------------------------------------------------------------------

  onData(data: Buffer, headers: ReadonlyMap<number, Buffer> | undefined): void {
    if (this.#isClosed) return;
    if (this.#fromClient.length === 0 && this.#mayWrite(data)) {
      this.#write({ data, headers });
      return;
    }
    const since = this.#link.onDataDelay ? { since: this.#clock.monotonic() } : {};
    const waiting = copied({ data, headers, ...since });
    this.#fromClient.push(waiting);
    this.#link.hold(this, costOf(waiting));
  }

  /** Forwards a trace route request or answer of the client to its circuit. */
  onTrace({ type, headers }: SdkTrace): void {
    if (this.#isClosed) return;
    this.#traces ??= new TokenBucket(TRACES, this.#clock.monotonic());
    if (this.#traces.take(this.#clock.monotonic()) === undefined) this.#link.exceeded(0);
    else this.#xgress?.forwardTrace(type, headers);
  }

  /** The client closed its connection: data sent before still arrives. */
  onClosed(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#toClient.length = 0;
    if (this.#xgress && this.#fromClient.length === 0) this.#endByClient();
  }

  /** A circuit that the client closed before still delivers its data. */
  onLost(): boolean {
    const isClosedByClient = this.#isClosed && !this.#isGone;
    if (isClosedByClient && this.#xgress) return true;
    this.abandon();
    return false;
  }

  /** Cuts the circuit without a message to the client. */
  abandon(): void {
    this.#isClosed = true;
    this.#forget();
    this.#xgress?.abort();
    this.#gone();
  }

  /** The router closes the connection. */
  cut(reason: string, detail: RejectionDetail): void {
    if (!this.#isClosed) this.#sendClosed(reason, detail);
    this.#forget();
    if (this.#xgress) this.#xgress.abort();
    else this.#gone();
  }

  // From the circuit --------------------------------------------------------------------------------------------------

  deliver(data: Buffer, headers: ReadonlyMap<number, Buffer> | undefined): boolean {
    if (this.#isClosed || (data.length === 0 && !headers)) return true;
    return this.#send({ data, headers });
  }

  onControl(frame: Frame): boolean {
    const message = this.#isClosed ? undefined : traceToClient(this.connectionId, frame);
    // Dropped for a slow client: peers may send many.
    if (message) this.#link.trySendData(this.connectionId, message.encode(), undefined);
    return message !== undefined;
  }

  /** Clients must accept a second FIN. */
  end(): void {
    this.#finSent = true;
    if (!this.#isClosed) this.#send({ data: EMPTY, headers: FIN_HEADERS });
  }

  closed(outcome: CircuitOutcome): void {
    this.#dropFromClient();
    if (this.#isClosed) this.#gone();
    else if (outcome === 'cut') this.#sendClosed('circuit closed', undefined);
    else this.#complete();
  }

  writable(): void {
    this.#isBlocked = false;
    let written = 0;
    for (let next = this.#fromClient[0]; next && this.#mayWrite(next.data); next = this.#fromClient[0]) {
      this.#fromClient.shift();
      written += costOf(next);
      this.#reportDelay(next);
      this.#write(next);
    }
    if (written > 0) this.#link.hold(this, -written); // reads on, which may call `onData`
    if (this.#isClosed && this.#fromClient.length === 0) this.#endByClient();
  }

  rejected(): void {
    this.#isRejected = true;
    this.writable();
  }

  #reportDelay({ since }: Waiting): void {
    if (since === undefined) return;
    const delay = this.#clock.monotonic() - since;
    if (delay > LONG_DELAY) this.#link.onDataDelay?.(delay);
  }

  /** The connection to the client accepts frames again. */
  onLinkWritable(): void {
    for (let next = this.#toClient[0]; next; next = this.#toClient[0]) {
      if (!this.#trySend(next)) {
        this.#link.onceWritable(this);
        return;
      }
      this.#toClient.shift();
    }
    if (this.#isComplete) this.#complete();
    else this.#xgress?.resume();
  }

  #mayWrite({ length }: Buffer): boolean {
    this.#isBlocked ||= !this.#isRejected && this.#xgress?.fits(length) === false;
    return !this.#isBlocked;
  }

  /** A FIN is sent as a flag; the circuit ends when the client closes its connection. */
  #write({ data, headers }: Waiting): void {
    const isAccepted = this.#xgress?.write(data, headers) === true;
    this.#isBlocked = !isAccepted && !this.#isRejected;
  }

  /** The C SDK of 2022 drops undelivered data when the close arrives, so the client gets time to close first. */
  #complete(): void {
    this.#isComplete = true;
    if (this.#toClient.length > 0) return;
    if (this.#finSent)
      this.#grace = this.#clock.after('sdk close', CLOSE_GRACE, () => this.#sendClosed('closed', undefined));
    else this.#sendClosed('closed', undefined);
  }

  #endByClient(): void {
    this.#xgress?.end();
    this.#xgress?.rejectData();
    if (!this.#xgress || this.#xgress.isClosed) this.#gone();
  }

  #send(next: Waiting): boolean {
    if (this.#toClient.length === 0 && this.#trySend(next)) return true;
    this.#toClient.push(copied(next));
    this.#link.onceWritable(this);
    return false;
  }

  #trySend({ data, headers }: Waiting): boolean {
    return this.#link.trySendData(this.connectionId, dataHead(this.connectionId, data.length, headers), data);
  }

  #sendClosed(reason: string, detail: RejectionDetail | undefined): void {
    this.#isClosed = true;
    this.#toClient.length = 0;
    this.#link.send(stateClosed(this.connectionId, reason, detail));
    this.#gone();
  }

  #forget(): void {
    this.#grace?.cancel();
    this.#dropFromClient();
    this.#toClient.length = 0;
  }

  #dropFromClient(): void {
    const dropped = this.#fromClient.splice(0);
    if (dropped.length > 0) this.#link.hold(this, -dropped.reduce((sum, each) => sum + costOf(each), 0));
  }

  /** The client may use its connection id again from now on, so this end must not release it twice. */
  #gone(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#forget();
    this.#onGone();
  }
}

function costOf({ data }: Waiting): number {
  return data.length + MESSAGE_OVERHEAD;
}

/** Data and headers are borrowed for one call. */
function copied({ data, headers, ...others }: Waiting): Waiting {
  const entries = Array.from(headers ?? [], ([key, value]) => [key, Buffer.from(value)] as const);
  return { ...others, data: Buffer.from(data), headers: headers && new Map(entries) };
}
