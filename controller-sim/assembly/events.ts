// Builds the events: their sources, and the optional file.

import { Listeners } from '#lib/listeners.ts';
import type { LoginAttempt } from '../auth/login-attempt.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { ClusterEvents } from '../events/cluster.ts';
import { Events } from '../events/events.ts';
import { openSink, type Sink } from '../events/sinks.ts';
import { EventSources } from '../events/sources.ts';
import type { Network } from '../network/network.ts';
import type { State } from '../state/state.ts';
import { type Addresses, apiAddresses } from './addresses.ts';
import type { SimulatorContext } from './context.ts';

export interface Observers {
  readonly events: Events;
  readonly logins: Listeners<LoginAttempt>;
  /** Reports the leader of the cluster, once all initial listeners have subscribed. */
  reportCluster(): void;
  /** Continues the events in a new file after the file was renamed. */
  reopenFile(): void;
}

export interface EventParts {
  readonly state: State;
  readonly network: Network;
  readonly addresses: Addresses;
  readonly cluster: Cluster;
}

/** @throws ProjectError if the file for events cannot be opened */
export function assembleEvents(
  context: SimulatorContext,
  { state, network, addresses, cluster }: EventParts,
): Observers {
  const { options, clock, ids } = context;
  const log = context.logOf('events');
  const { controllerId } = addresses;
  const events = context.own(new Events(log));
  const logins = new Listeners<LoginAttempt>('logins', log);
  const ofCluster = cluster.isEnabled ? cluster : undefined;
  context.own(new EventSources({ state, network, events, logins, clock, ids, controllerId, cluster: ofCluster }));
  let sink: Sink | undefined;
  if (options.eventsFile !== undefined) {
    const opened = openSink(events, { file: options.eventsFile, namespaces: options.eventTypes ?? [] }, { log, clock });
    context.own({ close: () => opened[Symbol.asyncDispose]() });
    sink = opened;
  }
  const clusterEvents = ofCluster
    ? context.own(new ClusterEvents({ cluster, events, state, clock, controllerId, apiAddresses }))
    : undefined;
  return {
    events,
    logins,
    reportCluster: () => clusterEvents?.start(),
    reopenFile: () => sink?.reopen(),
  };
}
