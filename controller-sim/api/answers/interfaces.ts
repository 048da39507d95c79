// Network interfaces of a router's machine in answers (reference fact: HTTP entities, edge routers).

import type { Interface } from '#schemas/api/gen/answers.ts';
import { InterfaceFlag } from '#wire/interface-flags.ts';
import type { NetworkInterface } from '../../state/kinds/router.ts';
import { nullWhenEmpty } from './show.ts';

/** Null if the router reported none. */
export function showInterfaces(interfaces: readonly NetworkInterface[] = []): readonly Interface[] | null {
  const shown = interfaces.map(({ flags, addresses, ...plain }) => ({
    ...plain,
    addresses: nullWhenEmpty(addresses),
    isUp: (flags & InterfaceFlag.Up) !== 0,
    isBroadcast: (flags & InterfaceFlag.Broadcast) !== 0,
    isLoopback: (flags & InterfaceFlag.Loopback) !== 0,
    isMulticast: (flags & InterfaceFlag.Multicast) !== 0,
    isRunning: (flags & InterfaceFlag.Running) !== 0,
  }));
  return nullWhenEmpty(shown);
}
