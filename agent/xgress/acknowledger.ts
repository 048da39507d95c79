// Sends the acknowledgements of one circuit end. Payloads that arrive in one turn of the event loop are acknowledged
// together; another acknowledgement reports freed buffer space to the peer (reference fact: link, section 2.4).

import { Acknowledgement, type Payload } from '#wire/xgress-frames.ts';

export interface AcknowledgerComponents {
  /** Bytes in the receive buffer, as reported to the peer. */
  bufferSize(): number;
  send(acknowledgement: Acknowledgement): void;
}

/** Freed space is reported if the last reported size was above this and at least half of it is free now. */
const WINDOW_UPDATE_FROM = 10_000;

export class Acknowledger {
  readonly #components: AcknowledgerComponents;
  readonly #circuitId: string;
  readonly #flags: number;
  #sequences: number[] = [];
  #stamp = 0;
  #isScheduled = false;
  #isClosed = false;
  #reported = 0;

  /** @param flags Sent with each acknowledgement. */
  constructor(components: AcknowledgerComponents, circuitId: string, flags: number) {
    this.#components = components;
    this.#circuitId = circuitId;
    this.#flags = flags;
  }

  /** Number of acknowledgements that are due. */
  get pending(): number {
    return this.#sequences.length;
  }

  add(payload: Payload): void {
    this.#sequences.push(payload.sequence);
    this.#stamp = payload.stamp ?? 0;
    this.#schedule();
  }

  /** The client consumed data. */
  onRoom(): void {
    if (this.#reported > WINDOW_UPDATE_FROM && this.#reported / 2 > this.#components.bufferSize()) this.#schedule();
  }

  /** Reports the size of the buffer without an acknowledgement. */
  report(): void {
    this.#schedule();
  }

  /** Sends the acknowledgements that are due and stops. */
  close(): void {
    this.#flush();
    this.#isClosed = true;
  }

  #schedule(): void {
    if (this.#isScheduled || this.#isClosed) return;
    this.#isScheduled = true;
    setImmediate(() => this.#flush());
  }

  #flush(): void {
    if (!this.#isScheduled || this.#isClosed) return;
    this.#isScheduled = false;
    const sequences = this.#sequences;
    const stamp = this.#stamp;
    this.#sequences = [];
    this.#stamp = 0; // reports without acknowledgements measure no round trip
    this.#reported = this.#components.bufferSize();
    this.#components.send(Acknowledgement.create(this.#circuitId, this.#flags, this.#reported, stamp, sequences));
  }
}
