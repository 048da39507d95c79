// Where circuit traffic can be handed to inside this router: a link, or the xgress at one end of a circuit. The forwarder
// knows nothing else about them.

import type { Frame } from '#wire/frame.ts';
import type { Acknowledgement, Payload } from '#wire/xgress-frames.ts';

/** Why a payload is on its way; decides what happens when a queue is full, and which drop counter moves. */
export const PayloadOrigin = Object.freeze({
  Xgress: 'xgress',
  Retransmission: 'retransmission',
  /** From a link. */
  Forwarded: 'forwarded',
  /** From a client with flow control of its own. */
  Relayed: 'relayed',
} as const);
export type PayloadOrigin = (typeof PayloadOrigin)[keyof typeof PayloadOrigin];

/**
 * `full`: not taken, try again when `onceWritable` says so. `unroutable`: this circuit has no route. `foreign`: the circuit does not
 * come from this source; it is nobody's fault but the sender's.
 */
export type ForwardOutcome = 'sent' | 'full' | 'unroutable' | 'foreign';

export interface Destination {
  /** Link id or xgress address. */
  readonly address: string;
  readonly isLink?: boolean;
  /** False when the queue is full. The payload is the caller's: a destination copies what it keeps. */
  sendPayload(payload: Payload, origin: PayloadOrigin): boolean;
  sendAcknowledgement(acknowledgement: Acknowledgement): boolean;
  sendControl(frame: Frame): boolean;
  /** Calls `task` once, when a payload that was refused would be taken. */
  onceWritable(task: () => void): void;
}

/** A destination at the end of a circuit. */
export interface CircuitEnd extends Destination {
  readonly circuitId: string;
  /** Milliseconds of the clock's `monotonic` at which something last arrived from the network. */
  readonly lastReceived: number;
  /** The circuit is gone: nothing more will arrive; what was received is still delivered. */
  unrouted(): void;
}
