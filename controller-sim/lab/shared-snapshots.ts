// The snapshots of all controllers of a network, for requests that any of them takes. A snapshot stays with the one
// that took it. Its name belongs to the newest; each has a `start` of its own.

import type { LabSnapshot } from '#schemas/api/gen/answers.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { OtherLabs } from './other-labs.ts';
import type { SaveOptions, SnapshotFile, SnapshotLoadOptions } from './snapshot-file.ts';
import { type LabSnapshots, type SnapshotInfo, START } from './snapshots.ts';

export interface SharedSnapshotsComponents {
  readonly cluster: Pick<Cluster, 'id'>;
  readonly snapshots: LabSnapshots;
  readonly others: Pick<OtherLabs, 'snapshots' | 'save' | 'taken' | 'forget'>;
}

export class SharedSnapshots {
  readonly #components: SharedSnapshotsComponents;

  constructor(components: SharedSnapshotsComponents) {
    this.#components = components;
  }

  /** Those of this controller, the oldest first, with its start. */
  own(): LabSnapshot[] {
    return this.#components.snapshots.list().map((each) => this.#shown(each));
  }

  /** Those of this controller, then those of others that answer. */
  async list(): Promise<LabSnapshot[]> {
    const others = await this.#components.others.snapshots();
    return [...this.own(), ...others.filter(({ name }) => name !== START)];
  }

  /**
   * Takes one, with the faults of all controllers, and replaces one with the same name. Rejects with InvalidError for
   * an invalid name, or beyond the limit.
   */
  async take(name: string): Promise<LabSnapshot> {
    const { snapshots, others } = this.#components;
    const taken = snapshots.take(name);
    await others.taken(name);
    return this.#shown(taken);
  }

  /**
   * Takes it from a file, which has no faults. Rejects with InvalidError for other content, an invalid name, or beyond
   * the limit.
   */
  async load(name: string, content: unknown, options: SnapshotLoadOptions): Promise<LabSnapshot> {
    const { snapshots, others } = this.#components;
    const loaded = snapshots.load(name, content, options);
    await others.forget(name);
    return this.#shown(loaded);
  }

  /** A snapshot for a file. Rejects with UnknownError, and with InvalidError if its controller does not answer. */
  async save(name: string, options: SaveOptions): Promise<SnapshotFile> {
    const { snapshots, others } = this.#components;
    const elsewhere = snapshots.has(name) ? undefined : await others.save(name, options);
    return elsewhere ?? snapshots.save(name, options);
  }

  /** Rejects with UnknownError, and with InvalidError for `start`. */
  async delete(name: string): Promise<void> {
    const { snapshots, others } = this.#components;
    if (snapshots.has(name) || !(await others.forget(name))) snapshots.delete(name);
  }

  #shown({ name, takenAt, index, entities }: SnapshotInfo): LabSnapshot {
    const { id: controllerId } = this.#components.cluster;
    return { name, takenAt: takenAt.toISOString(), index: Number(index), entities, controllerId };
  }
}
