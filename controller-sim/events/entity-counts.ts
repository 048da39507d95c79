// Publishes how many entities of each kind exist, at the interval of each subscription.

import type { Clock } from '#lib/time/clock.ts';
import { parseDuration } from '#lib/time/duration.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { countEntities } from '../entities/counts.ts';
import type { State } from '../state/state.ts';
import { type CountSource, eventOf, MIN_COUNT_INTERVAL, type SubscribeOptions } from './events.ts';

export interface EntityCountsComponents {
  readonly state: State;
  /** Undefined for a controller alone. */
  readonly cluster: Pick<Cluster, 'isLeader' | 'membership'> | undefined;
  readonly clock: Clock;
  readonly controllerId: string;
}

/** reference fact: the first event follows at once, and only the leader publishes, or every member if none leads. */
export function entityCounts(components: EntityCountsComponents): CountSource {
  const { clock, cluster, state } = components;
  return (listener, { countInterval, countAlways }) => {
    const publish = () => {
      if (cluster && !countAlways && !cluster.isLeader && cluster.membership.leaderId !== undefined) return;
      const counts = countEntities(state, cluster?.membership.members.length ?? 0);
      const fields = { counts: { ...counts, 'services.edge': counts.services } };
      listener(eventOf(components, 'entityCount', fields));
    };
    const first = clock.after('first entity counts', 0, publish);
    const others = clock.every('entity counts', countInterval, publish);
    return () => {
      first.cancel();
      others.cancel();
    };
  };
}

/** The options of a subscription in a stream. Throws Error with the reference's messages. */
export function countOptions(options: { readonly interval?: unknown; readonly propagateAlways?: unknown }) {
  const { interval, propagateAlways } = options;
  const read: { -readonly [K in keyof SubscribeOptions]: SubscribeOptions[K] } = {};
  if (interval !== undefined) {
    if (typeof interval !== 'string')
      throw new Error(`invalid type ${typeof interval} for edge.entityCounts interval configuration`);
    // reference fact: entities are counted once a second at most.
    read.countInterval = Math.max(MIN_COUNT_INTERVAL, Math.round(parseDuration(interval)));
  }
  if (propagateAlways !== undefined) {
    if (typeof propagateAlways !== 'boolean' && typeof propagateAlways !== 'string')
      throw new Error('invalid value for propagateAlways, must be boolean or string');
    read.countAlways = String(propagateAlways).toLowerCase() === 'true';
  }
  return read;
}
