// A connected router in the network's view.

import type { Channel } from '#wire/channel/channel.ts';
import type { VersionInfo } from '#wire/channel/version-info.ts';
import type { Listener } from '#wire/gen/control_pb.js';

export interface ConnectedRouter {
  readonly id: string;
  readonly channel: Channel;
  readonly version: VersionInfo;
  /** Bits of RouterCapability from its hello. */
  readonly capabilities: ReadonlySet<number>;
  /** Addresses where other routers may dial links to it. */
  linkListeners: readonly Listener[];
  /** Protocol to URL of its edge listeners, from its answer to the server hello. */
  supportedProtocols: Readonly<Record<string, string>>;
  hostname: string;
  syncStatus: 'SYNC_NEW' | 'SYNC_HELLO' | 'SYNC_DONE';
  readonly connectedAt: number;
  /** The IP address from which it has connected, or at which it was dialed; empty if it was gone at once. */
  readonly remoteAddress: string;
  /** Identities that are currently connected to it. */
  readonly identities: Set<string>;
}
