// One link that should exist, its state, the router at its other end, and their form in the inspection `links`.

import type { Log } from '#lib/log/log.ts';
import { formatDuration } from '#lib/time/duration.ts';
import type { WantedLinkDescription } from '../interface/description.ts';
import type { Link } from './link.ts';
import type { LinkDialerSettings } from './link-dialer.ts';
import { type LinkEvent, type LinkState, nextLinkState } from './link-states.ts';

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
  /** Listeners from the last message of a controller. */
  listeners: readonly PeerListener[];
  readonly wanted: Map<string, WantedLink>;
}

/** One link that should exist. */
export interface WantedLink {
  readonly key: string;
  /** Created once; every redial of this link keeps the id and increases the iteration. */
  readonly linkId: string;
  listener: PeerListener;
  dialer: LinkDialerSettings;
  state: LinkState;
  attempts: number;
  /** Number of times that the link came up. */
  connects: number;
  /** Milliseconds of the clock's `monotonic` at which it came up last. */
  upSince: number;
  /** Losses of short-lived links since the last one that lasted, and the wait after the last of them. */
  earlyLosses: number;
  lossDelay: number;
  retryDelay: number;
  /** Milliseconds of the clock's `monotonic`. */
  nextDial: number;
  /** Reason of the last failed dial; undefined once the link is up. */
  lastError: string | undefined;
  /** The advice for it, if it suggests any. */
  lastRemedy: string | undefined;
}

/** The state of a wanted link, for operators. */

export interface LinkDestination {
  readonly id: string;
  readonly version: string;
  readonly healthy: boolean;
  readonly unhealthySince?: string;
  readonly linkStates: readonly ReturnType<typeof inspectWanted>[];
}

/** The reference's name for a binding without a name. */
const DEFAULT_BINDING = 'default';

export function step(wanted: WantedLink, event: LinkEvent, log: Log): void {
  const next = nextLinkState(wanted.state, event);
  if (next !== wanted.state)
    log.debug({ key: wanted.key, linkId: wanted.linkId, previous: wanted.state, state: next }, 'link state');
  wanted.state = next;
}

export function describeWanted(
  peerId: string,
  { linkId, key, listener, state, attempts, nextDial, lastError, lastRemedy }: WantedLink,
  toTimeOfDay: (monotonic: number) => number,
): WantedLinkDescription {
  const isWaiting = state !== 'established' && nextDial > 0;
  return {
    peerId,
    linkId,
    key,
    address: listener.address,
    state,
    attempts,
    ...(isWaiting && { nextDial: Math.round(toTimeOfDay(nextDial)) }),
    ...(lastError !== undefined && { lastError }),
    ...(lastRemedy !== undefined && { remedy: lastRemedy }),
  };
}

/** @param toTimeOfDay Converts milliseconds of the clock's `monotonic` to milliseconds since the epoch. */
export function inspectWanted(wanted: WantedLink, link: Link | undefined, toTimeOfDay: (monotonic: number) => number) {
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
