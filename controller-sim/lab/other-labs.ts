// The labs of the other controllers of a network: one call moves the time of all, a restore at any of them is one of
// all, and any of them knows the snapshots of all. Controllers of one process may share their clock, which moves once.

import { describeError } from '#lib/errors.ts';
import type { Log } from '#lib/log/log.ts';
import type { LabSnapshot } from '#schemas/api/gen/answers.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { PeerConnections } from '../control-channel/peers.ts';
import type { Membership } from '../state/store/shared-store.ts';
import type { LabClock, SharedTime } from './lab-clock.ts';
import { InvalidError } from './lab-error.ts';
import type { SaveOptions, SnapshotFile } from './snapshot-file.ts';
import type { LabSnapshots, Restored, RestoreOptions } from './snapshots.ts';

/** Functions that controllers call. */
const MOVE = 'lab.move-time';
const TIME = 'lab.time';
const SNAPSHOTS = 'lab.snapshots';
const SAVE = 'lab.save-snapshot';
const TAKEN = 'lab.taken-snapshot';
const FORGET = 'lab.forget-snapshot';
const RESTORE = 'lab.restore';
const RESTORED = 'lab.restored';
/** Milliseconds for the restore of a snapshot, or its file, which may have 100,000 entities. */
const MAX_RESTORE_MS = 60_000;

const KEEPS_ITS_TIME = 'another controller keeps its time';

export interface OtherLabsComponents {
  readonly cluster: Pick<Cluster, 'connectedOthers' | 'subscribe'>;
  readonly peers: Pick<PeerConnections, 'call' | 'serve'>;
  readonly log: Log;
}

interface RestoreCall {
  readonly name: string;
  readonly options: RestoreOptions;
}

interface SaveCall {
  readonly name: string;
  readonly options: SaveOptions;
}

interface ServedLab {
  readonly clock: LabClock;
  readonly snapshots: LabSnapshots;
  readonly sharedSnapshots: { own(): LabSnapshot[] };
}

export class OtherLabs {
  readonly #components: OtherLabsComponents;

  constructor(components: OtherLabsComponents) {
    this.#components = components;
  }

  /** Lets the other controllers call this one. */
  serve({ clock, snapshots, sharedSnapshots }: ServedLab): void {
    const { cluster, peers } = this.#components;
    cluster.subscribe(({ before, after }) => this.#tellReturned(clock, before, after));
    peers.serve(MOVE, (time) => clock.follow(time as SharedTime));
    peers.serve(TIME, () => clock.sharedTime());
    peers.serve(SNAPSHOTS, () => sharedSnapshots.own());
    peers.serve(SAVE, (call) => {
      const { name, options } = call as SaveCall;
      return snapshots.save(name, options);
    });
    peers.serve(TAKEN, (name) => snapshots.takenElsewhere(String(name)));
    peers.serve(FORGET, (name) => snapshots.forget(String(name)));
    peers.serve(RESTORE, (call) => {
      const { name, options } = call as RestoreCall;
      return snapshots.restore(name, options);
    });
    peers.serve(RESTORED, (call) => {
      const { name, options } = call as RestoreCall;
      snapshots.restoredElsewhere(name, options);
    });
  }

  /** Moves the time of all others. One that does not answer keeps its own, which is logged. */
  async move(time: SharedTime): Promise<void> {
    await this.#tell(MOVE, time, KEEPS_ITS_TIME);
  }

  /** Asks the other controllers that run for their time. */
  times(): Promise<SharedTime>[] {
    const { cluster, peers } = this.#components;
    return cluster.connectedOthers.map(async (id) => (await peers.call(id, TIME, null)) as SharedTime);
  }

  /** Controllers that were away may have missed moves of the time. */
  #tellReturned(clock: LabClock, before: Membership, after: Membership): void {
    const { cluster, peers, log } = this.#components;
    const wasConnected = new Set(before.members.flatMap(({ id, isConnected }) => (isConnected ? [id] : [])));
    for (const { id, isConnected } of after.members)
      if (isConnected && !wasConnected.has(id) && cluster.connectedOthers.includes(id))
        void peers
          .call(id, MOVE, clock.sharedTime())
          .catch((error: unknown) => log.warn({ controllerId: id, error: describeError(error) }, KEEPS_ITS_TIME));
  }

  /** The snapshots of the others that answer. */
  async snapshots(): Promise<LabSnapshot[]> {
    const { cluster, peers } = this.#components;
    const lists = cluster.connectedOthers.map(async (id) => {
      const answer = await peers.call(id, SNAPSHOTS, null).catch(() => []);
      return Array.isArray(answer) ? answer.filter(isSnapshot).map((each) => ({ ...each, controllerId: id })) : [];
    });
    return (await Promise.all(lists)).flat();
  }

  /**
   * The file of another controller's snapshot. Resolves with undefined if none has one with this name. Rejects with
   * InvalidError if the one that has it does not answer.
   */
  async save(name: string, options: SaveOptions): Promise<SnapshotFile | undefined> {
    return (await this.#askHolder(SAVE, { name, options }, 'did not save it')) as SnapshotFile | undefined;
  }

  /** This controller has taken a snapshot for all. */
  async taken(name: string): Promise<void> {
    await this.#tell(TAKEN, name, 'another controller keeps its snapshot, and its faults do not belong to the new one');
  }

  /** Removes the snapshots of others with this name. @returns whether one had it */
  async forget(name: string): Promise<boolean> {
    const had = await this.#tell(FORGET, name, 'another controller keeps its snapshot');
    return had.includes(true);
  }

  /**
   * Restores the snapshot of another controller. Resolves with undefined if none has one with this name. Rejects with
   * InvalidError if the one that has it does not restore it.
   */
  async restore(name: string, options: RestoreOptions): Promise<Restored | undefined> {
    return (await this.#askHolder(RESTORE, { name, options }, 'did not restore it')) as Restored | undefined;
  }

  /** This controller has restored: faults and journals of the others belong to the time before. */
  async restored(name: string, options: RestoreOptions): Promise<void> {
    await this.#tell(RESTORED, { name, options }, 'another controller keeps its faults and its journal');
  }

  /**
   * Calls a function of the controller that has a snapshot; resolves with undefined if none has it. Rejects with
   * InvalidError, which has the words for a failure.
   */
  async #askHolder(call: string, argument: RestoreCall | SaveCall, failure: string): Promise<unknown> {
    const { name } = argument;
    const found = (await this.snapshots()).find((each) => each.name === name);
    if (!found) return undefined;
    const { controllerId: id } = found;
    return this.#components.peers.call(id, call, argument, MAX_RESTORE_MS).catch((error: unknown) => {
      throw new InvalidError('name', `the controller ${id} has ${name}, and ${failure}: ${describeError(error)}`, name);
    });
  }

  /** Calls a function of all others, and logs which of them do not answer. @returns the answers */
  async #tell(name: string, argument: unknown, failure: string): Promise<unknown[]> {
    const { peers, log } = this.#components;
    return Promise.all(
      this.#components.cluster.connectedOthers.map((id) =>
        peers
          .call(id, name, argument)
          .catch((error: unknown) => log.warn({ controllerId: id, error: describeError(error) }, failure)),
      ),
    );
  }
}

function isSnapshot(value: unknown): value is LabSnapshot {
  return typeof value === 'object' && value !== null && 'name' in value && typeof value.name === 'string';
}
