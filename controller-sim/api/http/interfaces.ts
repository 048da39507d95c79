// Network interfaces of a router's machine in answers (reference fact: HTTP entities, edge routers).

import type { NetworkInterface } from '../../state/types.ts';
import { nullWhenEmpty } from './show.ts';

/** Flags of Go's package net, as routers report them. */
const FLAGS = { isUp: 1, isBroadcast: 2, isLoopback: 4, isMulticast: 16, isRunning: 32 };

/** Null if the router reported none. */
export function showInterfaces(interfaces: readonly NetworkInterface[] = []): readonly unknown[] | null {
  const shown = interfaces.map(({ name, hardwareAddress, mtu, index, flags, addresses }) => ({
    name,
    hardwareAddress,
    mtu,
    index,
    addresses: nullWhenEmpty(addresses),
    ...Object.fromEntries(Object.entries(FLAGS).map(([key, bit]) => [key, (flags & bit) !== 0])),
  }));
  return nullWhenEmpty(shown);
}
