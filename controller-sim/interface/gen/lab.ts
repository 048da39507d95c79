// Generated from the classes of the lab by `npm run generate`. Do not edit.
// The lab of a simulator: time, state, faults, and the record of requests. Every function rejects options and fields
// that it does not know, with InvalidError.

import type { Subscription } from '../../../common/lib/subscription.ts';
import type { LabTopology } from '../../../schemas/api/gen/answers.ts';
import type { Fault, FaultFilter, FaultHandle, NewFault } from '../../lab/faults/fault.ts';
import type { JournalCondition, WaitOptions } from '../../lab/journal/journal.ts';
import type { JournalEntry, JournalFilter } from '../../lab/journal/journal-entry.ts';
import type { JournalRecording } from '../../lab/journal/recording.ts';
import type { VerifyFilter, VerifyOptions } from '../../lab/journal/verification.ts';
import type { IdentityFile, IdentityOptions } from '../../lab/network/identities.ts';
import type { ReadyOptions } from '../../lab/network/readiness.ts';
import type { LabService, NewService } from '../../lab/network/services.ts';
import type { NewProxy, ProxyHandle, ProxyInfo } from '../../lab/proxies/proxies.ts';
import type { SeedDocument } from '../../lab/seed/export.ts';
import type { SeedOptions, Seeded } from '../../lab/seed/seeded.ts';
import type { SaveOptions, SnapshotFile, SnapshotLoadOptions } from '../../lab/snapshot-file.ts';
import type { RestoreOptions, Restored, Snapshot, SnapshotInfo } from '../../lab/snapshots.ts';
import type { WhatIf, WhatIfOptions } from '../../lab/what-if.ts';
import type { Explanation } from '../../lab/why/explanation.ts';
import type { PostureOptions } from '../../lab/why/posture.ts';
import type { WhyAnswer, WhyQuestion } from '../../lab/why/why.ts';

export interface Lab {
  readonly clock: LabClock;
  /** Those of this controller. */
  readonly snapshots: Snapshots;
  /** The requests of clients and the messages of routers. */
  readonly journal: Journal;
  /** Whether the journal records the messages of links. */
  readonly recordsLinks: boolean;
  /**
   * From now on the journal records the messages of the links between routers of this process, or no longer; `reset`
   * and `restore` end it. Each payload and each acknowledgement is an entry at each router, without its data. @throws
   * InvalidError for a simulator without routers in its process: the links of others are encrypted
   */
  recordLinks(isOn?: boolean): void;
  readonly faults: Faults;
  /** TCP proxies, whose connections faults slow down, stall and cut. */
  readonly proxies: Proxies;
  /** The controllers, routers, links and circuits at this moment; each list has a limit, and totals. */
  network(): LabTopology;
  /**
   * Resolves when the routers of `startNetwork` are as the controller wants them: connected, with its latest data, with
   * a link between each two, with the terminators that they host, and without circuits that have ended. Routers that
   * are closed or disabled do not count. Rejects with NotReadyError, which says what is missing and why; with
   * InvalidError for a simulator without routers in its process.
   */
  ready(options?: ReadyOptions): Promise<void>;
  /**
   * Returns to a snapshot: its state, its time, its faults, and an empty journal. `keep` names what stays as it is.
   * With routers in this process it resolves when they are `ready`, unless a fault of control channels or links is in
   * force then.
   * With several controllers, that of any of them; it returns all of them. The faults of others return if the API took
   * it, and are removed if this library did. Rejects with UnknownError, with InvalidError for an unknown word in
   * `keep`, and like `ready`.
   */
  restore(name: string, options?: RestoreOptions): Promise<Restored>;
  /** Returns to the state, the time and the faults after the start, and clears the journal. Rejects like `restore`. */
  reset(options?: RestoreOptions): Promise<Restored>;
  /**
   * Creates a service that everybody may dial and one router hosts. With routers in this process it resolves when the
   * service can be dialed. Rejects with InvalidError, UnknownError for an unknown router, SeedError for a name in use,
   * or NotReadyError.
   */
  service(name: string, service: NewService): Promise<LabService>;
  /**
   * The file of an enrolled identity, which any SDK loads. An unknown name creates the identity, with the role
   * attributes; of a known one, the earlier certificate and the one-time token are invalid afterwards. Routers of
   * `startNetwork` know it then. Rejects with InvalidError for the identity of a router, and with NotReadyError.
   */
  identity(name: string, options?: IdentityOptions): Promise<IdentityFile>;
  /** The one-time token of a router or an identity. @throws UnknownError, InvalidError if it has enrolled */
  token(name: string): string;
  /**
   * Explains whether an identity may dial or bind a service now, and what is missing. Identities, services and routers
   * by id or name. @throws UnknownError for an unknown one, InvalidError for another type
   */
  why(question: WhyQuestion): WhyAnswer;
  /** Explains whether an identity (id or name) can log in. @throws UnknownError */
  whyLogin(identity: string): Explanation;
  /** Explains whether the API session with this id is valid, or why and when it ended. */
  whySession(session: string): Explanation;
  /**
   * Explains whether an identity (id or name) passes the posture checks of its service policies: in one session, or in
   * any. @throws UnknownError for an unknown identity, or another identity's session
   */
  whyPosture(identity: string, options?: PostureOptions): Explanation;
  /**
   * Explains whether a link joins two routers (ids or names). @throws UnknownError, InvalidError for the same router
   */
  whyLink(router: string, other: string): Explanation;
  /**
   * Creates the entities of a document that are missing, in one change: the document that `ziti ops export` writes, as
   * text (YAML or JSON) or as an object. `apply` also changes those that exist, `prune` deletes what the sections of
   * the document do not have, `plan` only answers the steps. Rejects with SeedError, which has every mistake; nothing
   * has then changed.
   */
  seed(document: SeedDocument | string, options?: SeedOptions): Promise<Seeded>;
  /**
   * Applies a document to a copy of the network, and compares who may use which service. Nothing changes. Rejects like
   * `seed`, with InvalidError beyond the limit on rights, and with QueueFullError if 16 others wait.
   */
  whatIf(document: SeedDocument | string, options?: WhatIfOptions): Promise<WhatIf>;
  /** The network as a document for `seed`: sorted, without secrets and without built-in entities. */
  export(): SeedDocument;
}

/** The time of this controller, and of all others of its network that run: each call moves them all. */
export interface LabClock {
  now(): Date;
  /** Milliseconds by which the time is ahead of the real time; negative in the past. */
  readonly advanced: number;
  /** How many times as fast as the real time it runs; 0: it stands still. */
  readonly rate: number;
  /**
   * Adds milliseconds, or a duration such as `31m`, `2d` or `1w`. Sessions, tokens and locks expire, and all that waits
   * for this time happens before it resolves; routers of `startNetwork` renew certificates that become due. Rejects
   * with InvalidError for a wrong or negative duration, and beyond ten years in total; with NotReadyError.
   */
  advance(duration: string | number): Promise<void>;
  /**
   * Sets the time: a Date, milliseconds since the epoch, or a text such as `2027-01-31T12:00:00Z`. A later time is an
   * advance. An earlier one fires no timers, and what has expired remains so. Rejects with InvalidError for a wrong
   * time, and more than ten years from the real one.
   */
  set(time: Date | string | number): Promise<void>;
  /** The time stands still until `run`; `advance` and `set` still move it. @throws like `run` */
  freeze(): void;
  /**
   * From now on the time runs so many times as fast as the real time; 1: as fast, 0: it stands still. Timers of
   * sessions and locks wait accordingly; connections keep real time. @throws InvalidError beyond 0 to 100,000, and for
   * a clock of the caller that only the caller moves
   */
  run(rate?: number): void;
}

export interface Faults {
  /**
   * Adds a fault. `using fault = faults.add(…)` removes it at the end of the block. @throws InvalidError that names the
   * field, or beyond the limit; UnknownError for an identity, a router or a proxy that does not exist
   */
  add(fault: NewFault): FaultHandle;
  /** The oldest first; those that are used up or have ended stay until they are removed. */
  list(): Fault[];
  /** @throws UnknownError */
  remove(id: string): void;
  /** Removes all faults, or those of a scope. @throws InvalidError for an unknown field */
  clear(filter?: FaultFilter): void;
  /** Closes the control channel of a router (id or name), which connects again. @throws UnknownError */
  disconnect(router: string): void;
}

/** The requests of clients and the messages of routers: the latest 10,000. */
export interface Journal {
  /** The sequence number of the latest entry; 0 before the first one. */
  readonly last: number;
  /** How many entries it has. */
  readonly size: number;
  /** The entries that meet all conditions, the newest last. @throws InvalidError */
  entries(filter?: JournalFilter): JournalEntry[];
  /**
   * The requests that meet all conditions, with stand-ins for secrets: for a file of `sim replay`. @throws InvalidError
   */
  recording(filter?: JournalFilter): JournalRecording;
  /** Calls `listener` with every further entry, until the subscription ends. */
  subscribe(listener: (entry: JournalEntry) => void): Subscription;
  /**
   * Resolves with the first entry that meets the condition. Entries that exist already count, unless `after` excludes
   * them. Rejects with TimeoutError, whose message names the nearest entries; with ClosedError when the simulator
   * closes; with InvalidError for a wrong condition.
   */
  waitFor(condition: JournalCondition, options?: WaitOptions): Promise<JournalEntry>;
  /**
   * Resolves with the entries that meet the filter, once there are as many as expected. Rejects with VerificationError,
   * whose message names the nearest entries; with InvalidError; with ClosedError when the simulator closes.
   */
  verify(filter: VerifyFilter, options?: VerifyOptions): Promise<JournalEntry[]>;
  clear(): void;
}

export interface Proxies {
  /**
   * Opens a proxy. Rejects with InvalidError that names the field: a name in use, a target that is not `host:port`, a
   * port in use, or beyond the limit.
   */
  open(proxy: NewProxy): Promise<ProxyHandle>;
  /** The oldest first. */
  list(): ProxyInfo[];
  /** Closes a proxy and resets its connections. Rejects with UnknownError, and InvalidError for one of a router. */
  remove(name: string): Promise<void>;
}

/** The snapshots of one controller; the API `/lab/v1` has those of all. */
export interface Snapshots {
  /** All snapshots, the oldest first. */
  list(): SnapshotInfo[];
  /** A snapshot as JSON for a file; without credentials by default. @throws UnknownError, InvalidError */
  save(name: string, options?: SaveOptions): SnapshotFile;
  /**
   * Takes the content of a file under a name, which replaces a snapshot with this name: `restore` then applies it,
   * without faults. The administrator stays that of this simulator. @throws InvalidError for other content, an invalid
   * name, or beyond the limit
   */
  load(name: string, content: unknown, options?: SnapshotLoadOptions): Snapshot;
  /** Replaces a snapshot with the same name. @throws InvalidError for an invalid name, or beyond the limit */
  take(name: string): Snapshot;
  /** @throws UnknownError, or InvalidError for `start` */
  delete(name: string): void;
  /**
   * Returns to a snapshot, for all controllers; another one may have taken it. Rejects with UnknownError, and with
   * InvalidError for an unknown word in `keep`. If the change cannot be stored, nothing has changed.
   */
  restore(name: string, options?: RestoreOptions): Promise<Restored>;
}
