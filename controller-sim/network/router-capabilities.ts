// Capabilities of routers by their names in the APIs.

import { RouterCapability } from '#wire/gen/numbers.ts';

/** Bit to name. Only controllers have the data model bit. */
const NAMES: ReadonlyMap<number, string> = new Map([
  [RouterCapability.MultiChannel, 'MULTI_CHANNEL'],
  [RouterCapability.ConnectV2, 'CONNECT_V2'],
  [RouterCapability.ServiceSubscriptions, 'SERVICE_SUBSCRIPTIONS'],
  [RouterCapability.PostureChecks, 'POSTURE_CHECKS'],
  [RouterCapability.BindSuccess, 'BIND_SUCCESS'],
]);

export const ROUTER_CAPABILITIES: readonly string[] = [...NAMES.values()];

/** reference fact: null for a router that has not reported capabilities. */
export function capabilityNames(bits: ReadonlySet<number>): string[] | null {
  const names = [...NAMES].flatMap(([bit, name]) => (bits.has(bit) ? [name] : []));
  return names.length === 0 ? null : names;
}

/** The bits of named capabilities as one number. */
export function capabilityMask(bits: ReadonlySet<number>): number {
  return [...NAMES.keys()].filter((bit) => bits.has(bit)).reduce((mask, bit) => mask + 2 ** bit, 0);
}
