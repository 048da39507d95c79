// The outcome of a seed.

import type { SectionName } from './sections.ts';

/** Counts by section; sections without entities are missing. */
export type SectionCounts = Partial<Readonly<Record<SectionName, number>>>;

export interface Seeded {
  readonly created: SectionCounts;
  /** Entities whose name existed; they were not changed. */
  readonly existing: SectionCounts;
}
