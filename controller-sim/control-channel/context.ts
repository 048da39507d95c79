// Components that handlers of control messages share.

import type { Log } from '#lib/log/log.ts';
import type { IoContext } from '#lib/net/io-context.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { Message } from '#wire/message.ts';
import type { Access } from '../access/access.ts';
import type { ServiceChanges } from '../access/service-changes.ts';
import type { Activity } from '../auth/activity.ts';
import type { Revocations } from '../auth/tokens/revocations.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { ConnectedRouter } from '../network/connected-router.ts';
import type { Network } from '../network/network.ts';
import type { Authority } from '../pki/authority.ts';
import type { Tokens } from '../pki/tokens.ts';
import type { State } from '../state/state.ts';
import type { DataModelFeed } from './data-model/data-model-feed.ts';
import type { LegacySessions } from './legacy-sessions.ts';

export interface ControlContext {
  readonly state: State;
  readonly access: Access;
  readonly serviceChanges: ServiceChanges;
  readonly activity: Activity;
  readonly authority: Authority;
  readonly network: Network;
  readonly feed: DataModelFeed;
  readonly sessions: LegacySessions;
  /** Verifies sessions in token form. */
  readonly tokens: Tokens;
  readonly revocations: Revocations;
  /** For rules. */
  readonly clock: Clock;
  /** For connections. */
  readonly wireClock: Clock;
  readonly io: IoContext;
  readonly log: Log;
  readonly controllerId: string;
  readonly cluster: Cluster;
  /** Milliseconds after which an unused API session ends. */
  readonly sessionLifetime: number;
  /** `tls:host:port`, where routers reach it. */
  readonly controlAddress: string;
}

/** Handles one message of a router, with these components. Errors are logged, and the channel continues. */
export type ControlHandler<Used extends keyof ControlContext = keyof ControlContext> = (
  context: Pick<ControlContext, Used>,
  router: ConnectedRouter,
  message: Message,
) => void | Promise<void>;
