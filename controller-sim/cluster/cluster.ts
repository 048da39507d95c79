// The controllers of the network: their addresses for routers and clients, and which of them leads. A controller alone
// is the only member.

import { Listeners } from '#lib/listeners.ts';
import type { Log } from '#lib/log/log.ts';
import { CoalescedTask } from '#lib/queue/coalesced-task.ts';
import type { Clock } from '#lib/time/clock.ts';
import { PROTOCOL_VERSION } from '#wire/channel/version-info.ts';
import type { Member, MemberInfo, Membership, Progress, Registry } from '../state/store/shared-store.ts';

/** A change of members or leader. */
export interface ClusterChange {
  readonly before: Membership;
  readonly after: Membership;
}

export interface ClusterComponents {
  readonly registry: Registry;
  /** This controller reports itself as a member of a cluster; default: as one without a cluster. */
  readonly isEnabled?: boolean;
  readonly clock: Clock;
  readonly log: Log;
}

const NO_MEMBERSHIP: Membership = { index: 0n, members: [], leaderId: undefined, leaderIndex: 0n };

export class Cluster {
  /** This controller, as it joined. */
  readonly self: Member;
  /** Whether clients and routers hear of a cluster. */
  readonly isEnabled: boolean;
  readonly #registry: Registry;
  readonly #listeners: Listeners<ClusterChange>;
  readonly #unsubscribe: () => void;
  #membership: Membership = NO_MEMBERSHIP;
  readonly #reading: CoalescedTask;

  private constructor(self: Member, { registry, isEnabled = false, log }: ClusterComponents) {
    this.self = self;
    this.isEnabled = isEnabled;
    this.#registry = registry;
    this.#listeners = new Listeners('changes of the cluster', log);
    this.#reading = new CoalescedTask(log, 'members of the cluster', () => this.#read());
    this.#unsubscribe = registry.onChange(() => this.#reading.request());
  }

  /** Joins with the addresses of this controller. Rejects with StoreWriteError. */
  static async join(components: ClusterComponents, self: Omit<MemberInfo, 'version' | 'joinedAt'>): Promise<Cluster> {
    const { registry, clock } = components;
    const info = { ...self, version: PROTOCOL_VERSION, joinedAt: new Date(clock.now()).toISOString() };
    const cluster = new Cluster({ ...info, isConnected: true }, components);
    try {
      await registry.join(info);
      cluster.#membership = await registry.read();
      cluster.#reading.request(); // others may have changed since
      return cluster;
    } catch (error) {
      await cluster.close();
      throw error;
    }
  }

  get id(): string {
    return this.self.id;
  }

  /** All members and the leader, as last read. */
  get membership(): Membership {
    return this.#membership;
  }

  /** The members that clients hear of. */
  get reported(): readonly Member[] {
    return this.isEnabled ? this.#membership.members : [];
  }

  /** The ids of the other members that run. */
  get connectedOthers(): string[] {
    return this.#membership.members.filter((each) => each.isConnected && each.id !== this.id).map(({ id }) => id);
  }

  get isLeader(): boolean {
    return this.#membership.leaderId === this.id;
  }

  /** The addresses of all members for routers, this controller's first. */
  get controlAddresses(): string[] {
    const { members } = this.#membership;
    return members.toSorted((a, b) => Number(b.id === this.id) - Number(a.id === this.id)).map(addressOf);
  }

  find(id: string): Member | undefined {
    return this.#membership.members.find((member) => member.id === id);
  }

  /** Calls `listener` after changes until the returned function is called. */
  subscribe(listener: (change: ClusterChange) => void): () => void {
    return this.#listeners.add(listener);
  }

  /** @returns false for an unknown member */
  remove(id: string): Promise<boolean> {
    return this.#registry.remove(id);
  }

  /** How far all members have come, as of the last renewal of this one. */
  get progress(): Progress {
    return this.#registry.progress;
  }

  /**
   * Lets a member replace its data by that of the store, and waits until it has. @returns false if no running member
   * has this id. Rejects with StoreWriteError if it could not.
   */
  rejoin(id: string): Promise<boolean> {
    return this.#registry.rejoin(id);
  }

  /** @returns false if no connected member has this id */
  transfer(id: string): Promise<boolean> {
    return this.#registry.transfer(id);
  }

  /** The members still know this controller, as one that does not run. */
  async close(): Promise<void> {
    this.#unsubscribe();
    this.#listeners.clear();
    await this.#reading.close();
    await this.#registry.leave();
  }

  async #read(): Promise<void> {
    const before = this.#membership;
    const after = await this.#registry.read();
    this.#membership = after;
    if (after.index !== before.index || after.leaderIndex !== before.leaderIndex)
      this.#listeners.call({ before, after });
  }
}

function addressOf({ controlAddress }: Member): string {
  return controlAddress;
}
