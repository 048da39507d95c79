// The choice of a protocol on a TLS port, by the main thread or the thread that performs the handshake: the LAST name
// in the client's list that the port knows. Without a list: the entry of '', or the only one (reference fact: control
// channel, section 1.1).

/** Undefined: the handshake fails. */
export function selectProtocol(known: ReadonlyMap<string, unknown>, wanted: readonly string[]): string | undefined {
  return wanted.findLast((name) => known.has(name));
}

/** The entry for the protocol of a connection; undefined if the connection has to end. */
export function entryFor<T>(known: ReadonlyMap<string, T>, selected: string | false | null): T | undefined {
  if (selected) return known.get(selected);
  const [first, ...others] = known.values();
  return known.get('') ?? (others.length === 0 ? first : undefined);
}
