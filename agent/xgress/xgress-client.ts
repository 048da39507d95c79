// The application behind one end of a circuit: a socket, a hosted application, an SDK connection.

import type { Frame } from '#wire/frame.ts';

/** How a circuit ended: `complete` if both sides received all data, else `cut`. */
export type CircuitOutcome = 'complete' | 'cut';

export interface XgressClient {
  /** The clients with this name share a part of the buffer budget: they use no descriptors. */
  readonly holder?: string | undefined;
  /** True if `deliver` copies the parts of `data` and `headers` that it keeps. Otherwise the xgress passes copies. */
  readonly borrows?: boolean;
  /** Data in order. Returns false to pause delivery until `resume` is called. */
  deliver(data: Buffer, headers: ReadonlyMap<number, Buffer> | undefined): boolean;
  /** The peer sends no further data. */
  end(): void;
  /** The circuit is closed. Called once. */
  closed(outcome: CircuitOutcome): void;
  /** The client may write again after `write` returned false. */
  writable(): void;
  /** The circuit drops all further data of the client, which need not wait for `writable`. */
  rejected?(): void;
  /** A control frame of the circuit. Returns false if the client does not handle it; this end answers then. */
  onControl?(frame: Frame): boolean;
}
