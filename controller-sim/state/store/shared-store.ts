// A store that several controllers share. Their changes have one order: a member reads the changes of others before it
// builds its own on them, and appends them under one lock. Each member has all data in memory, as with any store.

import type { Subscription } from '#lib/subscription.ts';
import { type Store, type StoredSet, type StoredState, StoreError } from './store.ts';

/** A controller of the cluster. */
export interface MemberInfo {
  readonly id: string;
  /** `tls:host:port`, for routers. */
  readonly controlAddress: string;
  /** `https://host:port`, for clients. */
  readonly baseUrl: string;
  /** Its server certificate in PEM. */
  readonly certPem: string;
  /** The version of the protocol that it speaks. */
  readonly version: string;
  /** RFC 3339: its last start. */
  readonly joinedAt: string;
}

export interface Member extends MemberInfo {
  /** Whether it runs. Others stay members: routers keep their addresses. */
  readonly isConnected: boolean;
  /** Why it does not follow the changes of others, or stores none; undefined if it does. */
  readonly problem?: string | undefined;
}

/** How far the members have come, as known since the last renewal. */
export interface Progress {
  /** Index of the last change. */
  readonly head: bigint;
  /** The head at a time since when every running member has reported: a lower index is behind, not only older. */
  readonly reportedHead: bigint;
  /** Index of the last change that a member has, by its id, as of its last report. */
  readonly members: ReadonlyMap<string, bigint>;
}

/** Values in the meta of a store that belong to one member, and end with its membership: its key and its port. */
const OF_MEMBER = ['pki.listener', 'listener.port'] as const;

/** The key of such a value. */
export function memberKey(name: (typeof OF_MEMBER)[number], memberId: string): string {
  return `${name}.${memberId}`;
}

export function memberKeys(memberId: string): string[] {
  return OF_MEMBER.map((name) => memberKey(name, memberId));
}

/** The members at one moment. */
export interface Membership {
  /** Grows with each change of the members. */
  readonly index: bigint;
  /** In the order in which they joined. */
  readonly members: readonly Member[];
  readonly leaderId: string | undefined;
  /** Grows with each change of the leader. */
  readonly leaderIndex: bigint;
}

/** Counts failed proofs of users for all members: each one would otherwise grant the whole number of attempts. */
export interface Attempts {
  /**
   * Adds one to a count, which begins again `milliseconds` after its first attempt. `now`: milliseconds since the
   * epoch.
   * @returns the count. Rejects if the store does not answer
   */
  add(key: string, now: number, milliseconds: number): Promise<number>;
  /** Begins again. */
  clear(key: string): Promise<void>;
}

/** The list of members that all of them keep together. Methods reject with StoreWriteError if it cannot be changed. */
export interface Registry {
  readonly attempts: Attempts;
  /**
   * Reserves the id of this member before it changes anything. Rejects with StoreError if a running member has it, or
   * if there are too many members.
   */
  claim(id: string): Promise<void>;
  /** Adds this member, or replaces its addresses. It is connected until `leave`, or until it no longer renews. */
  join(member: MemberInfo): Promise<void>;
  /** This member stops; another becomes the leader. Its addresses stay. */
  leave(): Promise<void>;
  /** @returns false for an unknown member */
  remove(id: string): Promise<boolean>;
  /** Makes another member the leader. @returns false if no connected member has this id */
  transfer(id: string): Promise<boolean>;
  read(): Promise<Membership>;
  readonly progress: Progress;
  /**
   * Lets a running member replace its data by that of the store, and waits until it has. @returns false if no running
   * member has this id. Rejects with StoreWriteError if the member could not.
   */
  rejoin(id: string): Promise<boolean>;
  /** Renews this member at once: its problem has changed. */
  renew(): void;
  /** Calls `listener` after changes of members and leader, until the returned function is called. */
  onChange(listener: () => void): () => void;
}

/** This member does not reach the store: the lab has cut it off. */
export class CutOffError extends StoreError {
  constructor() {
    super('the lab has cut this controller off (sim cluster partition); sim cluster heal ends that');
  }
}

/** Limit on members, stopped ones included: routers know the addresses of all of them. */
export const MAX_MEMBERS = 100;

/** @throws StoreError if a running member has this id, or for a new one beyond the limit */
export function requireFree(id: string, members: readonly Pick<Member, 'id' | 'isConnected'>[]): void {
  const known = members.find((member) => member.id === id);
  if (known?.isConnected)
    throw new StoreError(
      `a controller with the id ${id} runs already with this store; stop it, or choose another id (member, --member)`,
    );
  if (!known && members.length >= MAX_MEMBERS)
    throw new StoreError(
      `the network has ${members.length} controllers; start with the id of one that has stopped (member, --member), or remove those that are no longer needed (ziti ops cluster remove)`,
    );
}

/** A member's position before it takes the data of the store. */
export interface Reloaded {
  /** Index of its last change. */
  readonly after: bigint;
  /** The id of the history for routers; `next` is a new one, in case the store has another history. */
  readonly timeline: string;
  readonly next: string;
  /** An operator wants the data of the store, whatever its history. */
  readonly isWanted: boolean;
}

/**
 * `append` waits for the lock. It may call `prepare` twice: first as if the caller missed nothing, and if the store has
 * moved on, with what it missed.
 */
export interface SharedStore extends Store {
  readonly registry: Registry;
  /** A change is acknowledged when all members have it: there is nothing to catch up with. */
  readonly isImmediate: boolean;
  /**
   * The sets after the index `after`, in their order; perhaps only the first of them. Rejects with BehindError if the
   * store no longer has them, and with HistoryError if it has another history.
   */
  read(after: bigint): Promise<readonly StoredSet[]>;
  /** Calls `listener` when others have appended. */
  onAppended(listener: () => void): Subscription;
  /**
   * Loads everything again, and passes it to `apply`, which continues from there. If it rejects, nothing has changed.
   * Rejects with HistoryError for data that lacks something of the caller, unless that is wanted.
   */
  reload(own: Reloaded, apply: (state: StoredState) => void): Promise<void>;
  /** Calls `listener` when somebody wants this member to reload; the request ends with the promises that it adds. */
  onRejoin(listener: (pending: Promise<void>[]) => void): Subscription;
  /** Why changes cannot be stored, as renewals, changes and trials show; empty if they can. */
  readonly storeProblem: string;
  /** Calls `listener` when that changes. */
  onStoreProblem(listener: () => void): Subscription;
  /** Tells other members why this one does not follow. */
  noteProblem(problem: string | undefined): void;
  /**
   * Cuts this member off the store and the other members, or ends that: as a broken network would, for learning and
   * tests.
   */
  cutOff(isCutOff: boolean): void;
  /** Runs `work` while no other member starts: the first one creates what all share. */
  starting<T>(work: () => Promise<T>): Promise<T>;
}
