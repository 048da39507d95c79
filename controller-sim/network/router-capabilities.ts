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
export function capabilityNames(bits: readonly number[] = []): string[] | null {
  const names = [...NAMES].flatMap(([bit, name]) => (bits.includes(bit) ? [name] : []));
  return names.length === 0 ? null : names;
}

/** The bits as one number, which can exceed the exact range of numbers. */
export function capabilityMask(bits: readonly number[] = []): bigint {
  return bits.reduce((mask, bit) => mask | (1n << BigInt(bit)), 0n);
}
