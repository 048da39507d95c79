// The acknowledgements of one circuit end: everything that arrives in one turn of the event loop is acknowledged together, and
// the peer gets an acknowledgement when room has returned (reference fact: link, section 2.4).

import { Acknowledgement, type Payload } from '#wire/xgress-frames.ts';

export interface AcknowledgerComponents {
  /** Bytes in the receive buffer, as reported to the peer. */
  bufferSize(): number;
  send(acknowledgement: Acknowledgement): void;
}

/** Room is reported again when the last report was above this and half of it is free. */
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

  /** `flags` go out with each acknowledgement. */
  constructor(components: AcknowledgerComponents, circuitId: string, flags: number) {
    this.#components = components;
    this.#circuitId = circuitId;
    this.#flags = flags;
  }

  /** Acknowledgements that are due. */
  get pending(): number {
    return this.#sequences.length;
  }

  add(payload: Payload): void {
    this.#sequences.push(payload.sequence);
    this.#stamp = payload.stamp ?? 0;
    this.#schedule();
  }

  /** The client has taken data. */
  onRoom(): void {
    if (this.#reported > WINDOW_UPDATE_FROM && this.#reported / 2 > this.#components.bufferSize()) this.#schedule();
  }

  /** Sends what is due, and nothing afterwards. */
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
    this.#sequences = [];
    this.#reported = this.#components.bufferSize();
    this.#components.send(Acknowledgement.create(this.#circuitId, this.#flags, this.#reported, this.#stamp, sequences));
  }
}
