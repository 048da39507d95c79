// The size of the payloads of a stream. Large ones cost less time, but the JVM SDK before version 0.23.18 loses data of
// messages of more than 32 KiB. So only an end that announces that it accepts large payloads receives them.

import { PeerDataKey } from '#wire/gen/numbers.ts';
import { encodeUint32 } from '#wire/header-values.ts';
import type { PeerData } from '#wire/peer-data.ts';

/** Bytes. */
export const LARGE_PAYLOAD = 64 * 1024;
/** Bytes of the largest payload that every end accepts. */
export const SAFE_PAYLOAD = 32 * 1024;
const ANNOUNCEMENT = encodeUint32(LARGE_PAYLOAD);

/** Tells the other end in `ours` that this one accepts large payloads. */
export function announceLargePayloads(ours: Map<number, Buffer>): void {
  ours.set(PeerDataKey.LargestPayload, ANNOUNCEMENT);
}

/** Bytes of the largest payload for an end with this peer data. */
export function maxPayload(theirs: PeerData): number {
  return theirs.get(PeerDataKey.LargestPayload)?.equals(ANNOUNCEMENT) ? LARGE_PAYLOAD : SAFE_PAYLOAD;
}

/** Bytes of each of the fewest equal parts of a read of `length` bytes that have at most `limit`. */
export function equalPart(length: number, limit: number): number {
  return Math.ceil(length / Math.ceil(length / limit));
}
