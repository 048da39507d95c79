// What all ends of circuits on this router count together (reference fact: link, end of section 3).

import type { CircuitRole } from './xgress.ts';

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
}
