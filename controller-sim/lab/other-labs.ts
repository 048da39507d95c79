// The labs of the other controllers of a network: one call moves the time of all, and a restore at any of them is one
// of all. Controllers of one process may share their clock, which moves once.

import { describeError } from '#lib/errors.ts';
import type { Log } from '#lib/log/log.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { PeerConnections } from '../control-channel/peers.ts';
import type { LabClock, SharedTime } from './lab-clock.ts';
import { InvalidError } from './lab-error.ts';
import type { LabSnapshots, Restored, RestoreOptions } from './snapshots.ts';

/** Functions that controllers call. */
const MOVE = 'lab.move-time';
const TIME = 'lab.time';
const NAMES = 'lab.snapshots';
const RESTORE = 'lab.restore';
const RESTORED = 'lab.restored';
/** Milliseconds for a restore, whose change may have 100,000 entities. */
const MAX_RESTORE_MS = 60_000;

export interface OtherLabsComponents {
  readonly cluster: Pick<Cluster, 'connectedOthers'>;
  readonly peers: Pick<PeerConnections, 'call' | 'serve'>;
  readonly log: Log;
}

interface RestoreCall {
  readonly name: string;
  readonly options: RestoreOptions;
}

export class OtherLabs {
  readonly #components: OtherLabsComponents;

  constructor(components: OtherLabsComponents) {
    this.#components = components;
  }

  /** Lets the other controllers call this one. */
  serve({ clock, snapshots }: { readonly clock: LabClock; readonly snapshots: LabSnapshots }): void {
    const { peers } = this.#components;
    peers.serve(MOVE, (time) => clock.follow(time as SharedTime));
    peers.serve(TIME, () => clock.sharedTime());
    peers.serve(NAMES, () => snapshots.list().map(({ name }) => name));
    peers.serve(RESTORE, (call) => {
      const { name, options } = call as RestoreCall;
      return snapshots.restore(name, options);
    });
    peers.serve(RESTORED, (options) => snapshots.restoredElsewhere(options as RestoreOptions));
  }

  /** Moves the time of all others. One that does not answer keeps its own, which is logged. */
  async move(time: SharedTime): Promise<void> {
    await this.#tell(MOVE, time, 'another controller keeps its time');
  }

  /** The time of another controller that runs; undefined if none answers. */
  time(): Promise<SharedTime | undefined> {
    const asked = this.#components.cluster.connectedOthers.map((id) => this.#components.peers.call(id, TIME, null));
    return Promise.any(asked).then(
      (time) => time as SharedTime,
      () => undefined,
    );
  }

  /**
   * Restores the snapshot of another controller. Resolves with undefined if none has one with this name. Rejects with
   * InvalidError if the one that has it does not restore it.
   */
  async restore(name: string, options: RestoreOptions): Promise<Restored | undefined> {
    const { peers, cluster } = this.#components;
    const asked = cluster.connectedOthers.map(async (id) => {
      const names = await peers.call(id, NAMES, null).catch(() => []);
      return Array.isArray(names) && names.includes(name) ? [id] : [];
    });
    const [id] = (await Promise.all(asked)).flat();
    if (id === undefined) return undefined;
    try {
      return (await peers.call(id, RESTORE, { name, options }, MAX_RESTORE_MS)) as Restored;
    } catch (error) {
      throw new InvalidError(
        'name',
        `the controller ${id} has ${name}, and did not restore it: ${describeError(error)}`,
        name,
      );
    }
  }

  /** This controller has restored: faults and journals of the others belong to the time before. */
  async restored(options: RestoreOptions): Promise<void> {
    await this.#tell(RESTORED, options, 'another controller keeps its faults and its journal');
  }

  /** Calls a function of all others, and logs which of them do not answer. */
  async #tell(name: string, argument: unknown, failure: string): Promise<void> {
    const { peers, log } = this.#components;
    await Promise.all(
      this.#components.cluster.connectedOthers.map((id) =>
        peers
          .call(id, name, argument)
          .catch((error: unknown) => log.warn({ controllerId: id, error: describeError(error) }, failure)),
      ),
    );
  }
}
