// Counters that all circuit ends of this router share (reference fact: link, end of section 3).

/** Which end of a circuit: the one that dialed, or the one that hosts. */
export type CircuitRole = 'initiator' | 'terminator';

export interface XgressMetrics {
  sent(role: CircuitRole, bytes: number): void;
  received(role: CircuitRole, bytes: number): void;
  acknowledgementSent(): void;
  acknowledgementFailed(): void;
  acknowledgementReceived(): void;
  duplicateAck(): void;
  duplicatePayload(): void;
  droppedPayload(): void;
  retransmitted(): void;
  retransmissionFailed(): void;
  blockedByWindow(): void;
  blockedByPeer(): void;
  /** Milliseconds. */
  blockedFor(duration: number): void;
  /** Milliseconds that a client took for data that it could not take at once. */
  clientTook(duration: number): void;
  /** For a client with flow control of its own: it had no room. */
  relayDropped(what: 'payload' | 'acknowledgement'): void;
}
