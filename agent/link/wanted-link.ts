// One link that should be there, and the router at its other end; and how the inspection `links` shows them.

import { formatDuration } from '#lib/duration.ts';
import type { Link } from './link.ts';
import type { LinkDialerSettings } from './link-dialer.ts';
import type { LinkState } from './link-states.ts';

export interface PeerListener {
  readonly address: string;
  readonly protocol: string;
  readonly groups: readonly string[];
  readonly localBinding: string;
}

export interface Peer {
  readonly id: string;
  version: string;
  healthy: boolean;
  unhealthySince: number;
  /** What a controller said last. */
  listeners: readonly PeerListener[];
  readonly wanted: Map<string, WantedLink>;
}

/** One link that should be there. */
export interface WantedLink {
  readonly key: string;
  /** Made once; every redial of this link has the same id and the next iteration. */
  readonly linkId: string;
  listener: PeerListener;
  dialer: LinkDialerSettings;
  state: LinkState;
  attempts: number;
  /** Links that came up. */
  connects: number;
  retryDelay: number;
  /** Milliseconds of the clock's `monotonic`. */
  nextDial: number;
  /** Why the last dial failed; undefined once a link has come up. */
  lastError: string | undefined;
}

/** For operators. */
export interface WantedLinkState {
  readonly peerId: string;
  readonly linkId: string;
  readonly key: string;
  readonly address: string;
  readonly state: LinkState;
  readonly attempts: number;
  /** Milliseconds since the epoch; absent while no dial is planned. */
  readonly nextDial?: number;
  readonly lastError?: string;
}

export interface LinkDestination {
  readonly id: string;
  readonly version: string;
  readonly healthy: boolean;
  readonly unhealthySince?: string;
  readonly linkStates: readonly Record<string, unknown>[];
}

/** The name under which the reference shows a binding without one. */
const DEFAULT_BINDING = 'default';

export function describeWanted(
  peerId: string,
  { linkId, key, listener, state, attempts, nextDial, lastError }: WantedLink,
  toTimeOfDay: (monotonic: number) => number,
): WantedLinkState {
  const isWaiting = state !== 'established' && nextDial > 0;
  return {
    peerId,
    linkId,
    key,
    address: listener.address,
    state,
    attempts,
    ...(isWaiting && { nextDial: toTimeOfDay(nextDial) }),
    ...(lastError !== undefined && { lastError }),
  };
}

/** `toTimeOfDay` takes milliseconds of the clock's `monotonic` to those since the epoch. */
export function inspectWanted(
  wanted: WantedLink,
  link: Link | undefined,
  toTimeOfDay: (monotonic: number) => number,
): Record<string, unknown> {
  const { key, linkId, state, attempts, connects, retryDelay, nextDial, listener, dialer } = wanted;
  return {
    id: linkId,
    key,
    status: state,
    dialAttempts: attempts,
    connectedCount: connects,
    retryDelay: formatDuration(retryDelay),
    nextDial: new Date(toTimeOfDay(nextDial)).toISOString(),
    targetAddress: listener.address,
    targetGroups: listener.groups,
    targetBinding: listener.localBinding || DEFAULT_BINDING,
    dialerGroups: dialer.groups,
    dialerBinding: dialer.binding || DEFAULT_BINDING,
    ctrlsNotified: link !== undefined,
    establishedLinkId: link?.id ?? '',
  };
}
