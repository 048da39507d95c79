// Peer data: what the two ends of a circuit send each other through the controller, by `PeerDataKey`.

export type PeerData = ReadonlyMap<number, Buffer>;

/** Peer data of a protobuf message, whose keys are texts in JavaScript. Copies the values. */
export function peerDataFrom(fields: Readonly<Record<number, Uint8Array>>): Map<number, Buffer> {
  return new Map(Object.entries(fields).map(([key, value]) => [Number(key), Buffer.from(value)]));
}
