// Peer data: what the two ends of a circuit send each other through the controller, by `PeerDataKey`.

export type PeerData = ReadonlyMap<number, Buffer>;

/** An entry in a protobuf message. */
export interface PeerDataEntry {
  readonly key: number;
  readonly value: Uint8Array;
}

/** Peer data of a protobuf message. Copies the values. If a key is repeated, its last value counts, as in a map. */
export function peerDataFrom(entries: readonly PeerDataEntry[]): Map<number, Buffer> {
  return new Map(entries.map(({ key, value }) => [key, Buffer.from(value)]));
}

/** Peer data as entries of a protobuf message, without copies. */
export function peerDataEntries(peerData: PeerData): { key: number; value: Buffer }[] {
  return [...peerData].map(([key, value]) => ({ key, value }));
}
