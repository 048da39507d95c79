// A destination for circuit traffic inside this router: a link, or the xgress at one end of a circuit. The forwarder
// knows nothing else about either.

import type { Frame } from '#wire/frame.ts';
import type { Acknowledgement, Payload } from '#wire/xgress-frames.ts';

/** Why a payload is sent. It decides what happens if a queue is full and which drop counter is incremented. */
export const PayloadOrigin = Object.freeze({
  Xgress: 'xgress',
  Retransmission: 'retransmission',
  /** From a link. */
  Forwarded: 'forwarded',
  /** From a client that does its own flow control. */
  Relayed: 'relayed',
} as const);
export type PayloadOrigin = (typeof PayloadOrigin)[keyof typeof PayloadOrigin];

/**
 * `full`: rejected; the sender retries when `onceWritable` calls. `unroutable`: the circuit has no route. `foreign`:
 * the circuit does not enter at this source; only the sender is at fault.
 */
export type ForwardOutcome = 'sent' | 'full' | 'unroutable' | 'foreign';

export interface Destination {
  /** Link id or xgress address. */
  readonly address: string;
  readonly isLink?: boolean;
  /** Returns false if the queue is full. The payload belongs to the caller: a destination copies what it keeps. */
  acceptPayload(payload: Payload, origin: PayloadOrigin): boolean;
  acceptAcknowledgement(acknowledgement: Acknowledgement): boolean;
  acceptControl(frame: Frame): boolean;
  /** Calls `task` once, as soon as the destination accepts payloads of this circuit again. */
  onceWritable(circuitId: string, task: () => void): void;
  /**
   * Monotonic time before which every payload of a circuit has arrived at the other side of a link: later ones are on
   * their way and need no retransmission. Undefined if unknown.
   */
  deliveredBefore?(circuitId: string): number | undefined;
  /** The destination bounds the bytes on their way by itself. */
  readonly isPaced?: boolean;
  /** Bytes of a payload that leaves room for other circuits; by default any size does. */
  readonly payloadLimit?: number;
}

/** A destination at the end of a circuit. */
export interface CircuitEnd extends Destination {
  readonly circuitId: string;
  readonly role: 'initiator' | 'terminator';
  /** Milliseconds of the clock's `monotonic` at which something last arrived from the network. */
  readonly lastReceived: number;
  /**
   * Both directions have ended, everything that the peer sent has arrived, and the peer has acknowledged all data:
   * removing the circuit loses nothing.
   */
  readonly isSettled: boolean;
  /** The circuit was removed: nothing more will arrive. The end still delivers the data that it has received. */
  unrouted(): void;
}
