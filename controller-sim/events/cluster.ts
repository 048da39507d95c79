// Events of the cluster: members that come and go, the leader, and whether this member follows (reference fact: HTTP
// behaviour, Events).

import type { Clock, Timer } from '#lib/time/clock.ts';
import type { Cluster, ClusterChange } from '../cluster/cluster.ts';
import type { State } from '../state/state.ts';
import type { Member, Membership } from '../state/store/shared-store.ts';
import { type Events, eventOf } from './events.ts';

export interface ClusterEventsComponents {
  readonly cluster: Cluster;
  readonly events: Events;
  readonly state: Pick<State, 'index' | 'others'>;
  readonly clock: Clock;
  readonly controllerId: string;
  /** The addresses of a controller's APIs below its base URL. */
  readonly apiAddresses: (baseUrl: string) => unknown;
}

export class ClusterEvents {
  readonly #components: ClusterEventsComponents;
  readonly #unsubscribe: readonly ((() => void) | undefined)[];
  #isReadOnly = false;
  #start: Timer | undefined;

  constructor(components: ClusterEventsComponents) {
    this.#components = components;
    const { cluster, state } = components;
    this.#unsubscribe = [
      cluster.subscribe((change) => this.#onChange(change)),
      state.others?.onProblem((problem) => this.#onProblem(problem)),
    ];
  }

  /** Reports the leader after this turn, when all initial listeners have subscribed. */
  start(): void {
    const { clock, cluster } = this.#components;
    this.#start?.cancel();
    this.#start = clock.after('leadership', 0, () => {
      const { membership } = cluster;
      if (cluster.isLeader) this.#emit('leadership.gained', { peers: this.#peers(membership) });
      if (membership.leaderId !== undefined) this.#emit('state.has_leader', { leaderId: membership.leaderId });
    });
  }

  close(): void {
    this.#start?.cancel();
    for (const unsubscribe of this.#unsubscribe) unsubscribe?.();
  }

  /** reference fact: a member that cannot change data reports `state.ro`, and `state.rw` when it can again. */
  #onProblem(problem: string | undefined): void {
    const isReadOnly = problem !== undefined;
    if (isReadOnly === this.#isReadOnly) return;
    this.#isReadOnly = isReadOnly;
    const index = Number(this.#components.state.index);
    this.#emit(isReadOnly ? 'state.ro' : 'state.rw', { index, ...(isReadOnly && { reason: problem }) });
  }

  #onChange({ before, after }: ClusterChange): void {
    const { controllerId } = this.#components;
    const ids = ({ members }: Membership) => members.map(({ id }) => id).join();
    if (ids(before) !== ids(after))
      this.#emit('members.changed', { index: Number(after.index), peers: this.#peers(after) });
    for (const member of after.members) {
      const wasConnected = before.members.find(({ id }) => id === member.id)?.isConnected ?? false;
      if (member.id === controllerId || member.isConnected === wasConnected) continue;
      const peers = [this.#peer(member)];
      this.#emit(member.isConnected ? 'peer.connected' : 'peer.disconnected', { peers });
    }
    if (before.leaderId === after.leaderId) return;
    if (after.leaderId === controllerId) this.#emit('leadership.gained', { peers: this.#peers(after) });
    if (before.leaderId === controllerId) this.#emit('leadership.lost', { peers: this.#peers(after) });
    if (after.leaderId === undefined) this.#emit('state.is_leaderless', {});
    else this.#emit('state.has_leader', { leaderId: after.leaderId });
  }

  #peers({ members }: Membership): unknown[] {
    return members.map((member) => this.#peer(member));
  }

  /** reference fact: how a controller appears to the others in its cluster. */
  #peer({ id, controlAddress: addr, version, baseUrl }: Member): unknown {
    return { id, addr, version, apiAddresses: this.#components.apiAddresses(baseUrl) };
  }

  #emit(eventType: string, fields: Readonly<Record<string, unknown>>): void {
    this.#components.events.emit(eventOf(this.#components, 'cluster', { eventType, ...fields }));
  }
}
