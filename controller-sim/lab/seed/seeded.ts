// The outcome of a seed.

import type { SectionName } from './sections.ts';

/** Counts by section; sections without entities are missing. */
export type SectionCounts = Partial<Readonly<Record<SectionName, number>>>;

/** One change of a plan. */
export interface SeedStep {
  readonly action: 'create' | 'change' | 'delete';
  /** Such as `service policy`. */
  readonly kind: string;
  readonly name: string;
  /** Fields that change. */
  readonly fields?: readonly string[];
}

/** An entity that exists with other values than the document has. */
export type SeedDifference = Required<Omit<SeedStep, 'action'>>;

export interface Seeded {
  readonly created: SectionCounts;
  /** Entities that existed and were not changed. */
  readonly existing: SectionCounts;
  /** Without `apply`: the first 20 of them that have other values than the document; missing if there are none. */
  readonly different?: readonly SeedDifference[];
  /** Only with `apply`. */
  readonly changed?: SectionCounts;
  /** Only with `prune`. */
  readonly deleted?: SectionCounts;
  /** Only with `plan`: the first 1,000 changes, in their order. */
  readonly steps?: readonly SeedStep[];
}

export interface SeedOptions {
  /** Changes the entities that exist to what the document says; fields that it leaves out stay. */
  readonly apply?: boolean;
  /** Deletes what the sections of the document do not have. */
  readonly prune?: boolean;
  /** Changes nothing, and answers the steps. */
  readonly plan?: boolean;
}
