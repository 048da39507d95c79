// The key of a link, its groups, and the rule for duplicates: decides when two links between two routers are
// duplicates. Both directions normally produce equal keys, which reveals duplicates (reference fact: link, section
// 1.8).

import { ownValue } from '#lib/json/own-value.ts';
import { ownInterfaces } from '#lib/net/own-interfaces.ts';

/** `<dialer binding>-><protocol>:<router id>-><listener binding>`; an empty binding becomes `default`. */
export function linkKey(parts: {
  dialerBinding: string;
  protocol: string;
  routerId: string;
  listenerBinding: string;
}): string {
  return `${parts.dialerBinding || 'default'}->${parts.protocol}:${parts.routerId}->${parts.listenerBinding || 'default'}`;
}

/** Returns the name of the interface that owns an IP address; empty if none does, as for 0.0.0.0. */
export function interfaceOf(host: string): string {
  for (const [name, addresses] of Object.entries(ownInterfaces())) {
    if (addresses?.some((each) => each.address === host)) return name;
  }
  return '';
}

/** Returns a local IP address for an interface name or one of its addresses; undefined if there is none. */
export function localAddressFor(interfaceOrIp: string): string | undefined {
  const interfaces = ownInterfaces();
  const byName = ownValue(interfaces, interfaceOrIp);
  if (byName) return (byName.find((each) => each.family === 'IPv4') ?? byName[0])?.address;
  return interfaceOf(interfaceOrIp) === '' ? undefined : interfaceOrIp;
}

export type DuplicateVerdict = 'accept' | 'replace' | 'reject';

/** Duplicates that a link rejects before it is replaced: the other side may know that this link is broken. */
const MAX_REJECTIONS = 5;

/**
 * Decides about a new link if `existing` has the same key: the smaller id survives; an equal id is a redial and
 * replaces it.
 */
export function judgeDuplicate(
  existing: { id: string; rejectedDuplicates: number } | undefined,
  added: { id: string },
): DuplicateVerdict {
  if (!existing) return 'accept';
  if (existing.id < added.id && existing.rejectedDuplicates <= MAX_REJECTIONS) return 'reject';
  return 'replace';
}
