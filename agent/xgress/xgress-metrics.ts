// Counters that all circuit ends of this router share (reference fact: link, end of section 3).

/** The side of a circuit: the end that dialed, or the end that hosts. */
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
  /** Milliseconds until a client consumed data that it could not accept at once. */
  clientPausedFor(duration: number): void;
  /** A client that does its own flow control had no room. */
  relayDropped(what: 'payload' | 'acknowledgement'): void;
}
