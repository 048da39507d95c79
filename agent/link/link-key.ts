// When two links between two routers are the same link. Both directions normally produce equal keys, which is what makes
// duplicates visible (reference fact: link, section 1.8).

import { networkInterfaces } from 'node:os';
import { ownValue } from '#lib/own-value.ts';

/** `<dialer binding>-><protocol>:<router id>-><listener binding>`; an empty binding is written `default`. */
export function linkKey(parts: {
  dialerBinding: string;
  protocol: string;
  routerId: string;
  listenerBinding: string;
}): string {
  return `${parts.dialerBinding || 'default'}->${parts.protocol}:${parts.routerId}->${parts.listenerBinding || 'default'}`;
}

/** The name of the interface that owns an IP address; empty when there is none, as for 0.0.0.0. */
export function interfaceOf(host: string): string {
  for (const [name, addresses] of Object.entries(networkInterfaces())) {
    if (addresses?.some((each) => each.address === host)) return name;
  }
  return '';
}

/** An IP address of a local interface, for an interface name or one of its addresses; undefined when there is none. */
export function localAddressFor(interfaceOrIp: string): string | undefined {
  const interfaces = networkInterfaces();
  const byName = ownValue(interfaces, interfaceOrIp);
  if (byName) return (byName.find((each) => each.family === 'IPv4') ?? byName[0])?.address;
  return interfaceOf(interfaceOrIp) === '' ? undefined : interfaceOrIp;
}

export type DuplicateVerdict = 'accept' | 'replace' | 'reject';

/** How many duplicates a link refuses before it gives way: something is wrong with it that the other side knows better. */
const MOST_REJECTIONS = 5;

/** Decides about a new link when `existing` has the same key: the smaller id survives; an equal id is a redial and replaces it. */
export function judgeDuplicate(
  existing: { id: string; rejectedDuplicates: number } | undefined,
  added: { id: string },
): DuplicateVerdict {
  if (!existing) return 'accept';
  if (existing.id < added.id && existing.rejectedDuplicates <= MOST_REJECTIONS) return 'reject';
  return 'replace';
}
