// How payloads signal the end of one direction or of the whole circuit (reference fact: link, section 2).
//
//   FIN header      the application has ended its direction; no data was lost
//   EOF             the same for the circuit; only for peers that announced it
//   circuit end     instead of EOF for other peers, when both directions have ended: such peers end their direction
//                   too. From any peer the second end of a direction closes the circuit
//   circuit end + write failed, in one payload
//                   the client was reset or the circuit was cut: the other end resets its client. No other
//                   implementation sends both in one payload, and each treats it as the end of both directions.

import { EdgeFlag, PayloadFlag, PayloadHeader } from '#wire/gen/numbers.ts';
import { encodeUint32 } from '#wire/header-values.ts';
import type { Payload } from '#wire/xgress-frames.ts';

export const ABORT_FLAGS = PayloadFlag.CircuitEnd | PayloadFlag.WriteFailed;
export const FIN_HEADERS: ReadonlyMap<number, Buffer> = new Map([
  [PayloadHeader.EdgeFlags, encodeUint32(EdgeFlag.Fin)],
]);

export function isAbort(payload: Payload): boolean {
  return (payload.flags & ABORT_FLAGS) === ABORT_FLAGS;
}

/** A circuit end or an EOF: the sender has ended its direction. */
export function isEnd(payload: Payload): boolean {
  return payload.has(PayloadFlag.CircuitEnd) || payload.has(PayloadFlag.Eof);
}

export function isFin(headers: ReadonlyMap<number, Buffer> | undefined): boolean {
  const flags = headers?.get(PayloadHeader.EdgeFlags);
  return flags?.length === 4 && (flags.readUInt32LE() & EdgeFlag.Fin) !== 0;
}
