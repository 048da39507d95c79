// The database below LogStore: the log of changes with its head, the data as of the head, and the members. PostgreSQL
// implements it, and tests do with a database in their own process.

import type { Change } from '../change.ts';
import type { Position } from './history.ts';
import type { Registry } from './shared-store.ts';
import type { StoredState } from './store.ts';

/** One set of changes as the log has it. */
export interface LogEntry {
  readonly index: bigint;
  /** A NewSet in JSON. */
  readonly body: string;
  readonly chain: string;
}

/** The head of the log, and the first entries after some index; at most `MAX_READ`, in the order of their indexes. */
export interface LogPage {
  readonly head: Position;
  readonly entries: readonly LogEntry[];
}

/** Entries to append, with the last state of each entity that they change. */
export interface Batch {
  readonly entries: readonly LogEntry[];
  readonly changes: readonly Change[];
  /** Entries up to this index are no longer needed, apart from those at the positions of members. */
  readonly prunedTo: bigint | undefined;
}

/** A member reports it with each renewal. */
export interface MemberStatus {
  readonly position: Position;
  /** Why it does not follow the log, or cannot append to it; empty if it does and can. */
  readonly problem: string;
}

export interface LoadedLog {
  readonly position: Position;
  readonly state: StoredState;
  /** The last entry and the one before it, as far as the log has them. */
  readonly tail: readonly LogEntry[];
}

/** Reads the log in the view of a load. */
export interface LogReader {
  chainAt(index: bigint): Promise<string | undefined>;
  /** The first entries after an index, at most `MAX_READ`. */
  entriesAfter(index: bigint): Promise<readonly LogEntry[]>;
}

/** Entries of one page. */
export const MAX_READ = 1_000;

/** The head, as far as it is known. */
export interface Head extends Partial<Position> {
  /** The timeline for routers that the meta has; null if this copy of the data has none. */
  readonly routerTimeline?: string | null;
}

/** The store above a log. */
export interface LogOwner {
  /** Returns the report of this member for the others. */
  status(): MemberStatus;
  /** Receives the head after an append and with each renewal. */
  appended(head: Head): void;
  /** A renewal has failed, or takes longer than the time between two. */
  notRenewed(error: unknown): void;
  /** Replaces the data of this member by that of the log; the registry calls it. */
  rejoin(): Promise<void>;
}

export interface ChangeLog {
  readonly registry: Registry;
  /** The position that the last confirmed renewal has reported: its entry is kept. */
  readonly reported: Position | undefined;
  read(after: bigint): Promise<LogPage>;
  /**
   * Takes the lock, calls `work` with the page after `after`, and appends the batch that it returns, together or not at
   * all. `more` reads further pages. Entries of one call are appended in the order of their indexes.
   */
  append(
    after: bigint,
    work: (page: LogPage, more: (after: bigint) => Promise<readonly LogEntry[]>) => Promise<Batch>,
  ): Promise<void>;
  /**
   * The same for a batch that was built on `base`, without a look at the log. @returns false if the head is another one
   */
  appendAt(base: Position, batch: Batch): Promise<boolean>;
  /** Appends an entry and takes it back. Rejects if a change could not be stored now. */
  tryAppend(): Promise<void>;
  /** The chain of an entry; undefined if the log no longer has it. */
  chainAt(index: bigint): Promise<string | undefined>;
  /** All data, in one view; the values that `prepare` returns are stored with it and added to its meta. */
  load(prepare: (loaded: LoadedLog, reader: LogReader) => Promise<Values>): Promise<LoadedLog>;
  putMeta(values: Values): Promise<void>;
  /** Ends the connections, and opens none until it is called with false. */
  cutOff(isCutOff: boolean): void;
  starting<T>(work: () => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

export type Values = ReadonlyMap<string, string>;
