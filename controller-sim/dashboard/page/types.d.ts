// The types of the page's modules: the answers of the lab API, and what the views get.

import type { LabClock, LabFault, LabJournalEntry, LabTopology } from '../../../schemas/api/gen/answers.ts';
import type { LabClient } from './lab-client.js';

export type {
  LabCircuit,
  LabClock,
  LabController,
  LabFault,
  LabJournalEntry,
  LabLink,
  LabRestored,
  LabRouter,
  LabSeeded,
  LabSnapshot,
  LabTopology,
  LabWhy,
} from '../../../schemas/api/gen/answers.ts';
export type { Node, SetState } from './htm.js';

/** The clock of the simulator, and when it was read. */
export interface ReadClock extends LabClock {
  /** `now` in milliseconds since the epoch. */
  readonly time: number;
  /** Milliseconds of the page. */
  readonly readAt: number;
}

/** The answers that all views share; empty until the first ones arrive. */
export interface LabData {
  readonly network: LabTopology | undefined;
  readonly clock: ReadClock | undefined;
  readonly faults: readonly LabFault[];
  readonly isStopped: boolean;
}

/** The answers once they are there. */
export interface ShownData extends LabData {
  readonly network: LabTopology;
  readonly clock: ReadClock;
}

export interface JournalFilter {
  readonly kind?: string;
  readonly failed?: boolean;
  readonly identity?: string;
  readonly path?: string;
  readonly router?: string;
  readonly message?: string;
  /** In any field. */
  readonly text?: string;
}

export interface WhyQuestion {
  readonly identity?: string;
  readonly service?: string;
  /** `Dial` or `Bind`. */
  readonly type?: string;
}

export interface ViewProps {
  readonly client: LabClient;
  readonly data: ShownData;
  readonly journalFilter: JournalFilter;
  /** The question that another view asks. */
  readonly question: WhyQuestion;
  /** Shows the view Why with a question. */
  openWhy(question: WhyQuestion): void;
  /** Reads the shared answers again. */
  refresh(): Promise<void>;
  /** Shows the journal with a filter. */
  openJournal(filter: JournalFilter): void;
}

/** A mistake in a seed. */
export interface Mistake {
  readonly line?: number;
  readonly column?: number;
  readonly path: string;
  readonly message: string;
}

/** The fields of the form for faults, as texts. */
export interface FaultForm {
  readonly kind: 'http' | 'control';
  readonly effect: string;
  readonly [field: string]: string;
}

export type Entry = LabJournalEntry;
export type Suggestions = readonly string[];
