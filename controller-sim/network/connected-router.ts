// A router that is connected now, as the network sees it.

import type { Channel } from '#wire/channel.ts';
import type { Listener } from '#wire/gen/control_pb.js';
import type { VersionInfo } from '#wire/version-info.ts';

export interface ConnectedRouter {
  readonly id: string;
  readonly channel: Channel;
  readonly version: VersionInfo;
  /** Bits of RouterCapability that its hello has set. */
  readonly capabilities: ReadonlySet<number>;
  /** Where other routers may dial links to it. */
  linkListeners: readonly Listener[];
  /** Protocol to URL of its edge listeners, once it has answered the server hello. */
  supportedProtocols: Readonly<Record<string, string>>;
  hostname: string;
  syncStatus: 'SYNC_NEW' | 'SYNC_HELLO' | 'SYNC_DONE';
  readonly connectedAt: number;
  /** Identities that have a connection to it now. */
  readonly identities: Set<string>;
}
