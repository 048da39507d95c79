// Checks that references between entities resolve, and repairs those that do not: one run at a time.

import { describeError } from '#lib/errors.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { Entity } from './entity.ts';
import { idsIn, type KindReference, REFERENCES, withoutIds, withValue } from './references.ts';
import type { State } from './state.ts';
import type { Table } from './table.ts';
import type { Transaction } from './transaction.ts';

/** Deletions can invalidate further references; no chain of references is longer. */
const MAX_ROUNDS = 10;
/** reference fact: limit on listed results. */
const MAX_RESULTS = 1_000;

export interface IntegrityResult {
  readonly description: string;
  readonly fixed: boolean;
}

export interface IntegrityReport {
  readonly inProgress: boolean;
  readonly fixingErrors: boolean;
  readonly tooManyErrors: boolean;
  /** RFC 3339; null before the first run. */
  readonly startTime: string | null;
  readonly endTime: string | null;
  readonly error: string | null;
  readonly results: readonly IntegrityResult[] | null;
}

interface Fault {
  readonly reference: KindReference;
  readonly entity: Entity;
  readonly missing: readonly string[];
}

export class DataIntegrity {
  readonly #state: State;
  readonly #clock: Clock;
  #report: IntegrityReport = {
    inProgress: false,
    fixingErrors: false,
    tooManyErrors: false,
    startTime: null,
    endTime: null,
    error: null,
    results: null,
  };

  constructor(state: State, clock: Clock) {
    this.#state = state;
    this.#clock = clock;
  }

  get report(): IntegrityReport {
    return this.#report;
  }

  /** Starts a run, which ends on its own. Returns false if one is in progress. */
  start(options: { fix: boolean }): boolean {
    if (this.#report.inProgress) return false;
    this.#report = {
      inProgress: true,
      fixingErrors: options.fix,
      tooManyErrors: false,
      startTime: this.#now(),
      endTime: null,
      error: null,
      results: null,
    };
    void this.#run(options.fix);
    return true;
  }

  async #run(fix: boolean): Promise<void> {
    let error: string | null = null;
    const results: IntegrityResult[] = [];
    try {
      for (let round = 0, wasRepaired = true; wasRepaired && round < MAX_ROUNDS; round++) {
        const faults = (await this.#look(fix)).filter(({ fixed }) => round === 0 || fixed);
        results.push(...faults);
        wasRepaired = faults.some(({ fixed }) => fixed);
      }
    } catch (thrown) {
      error = describeError(thrown);
    }
    this.#report = {
      ...this.#report,
      inProgress: false,
      tooManyErrors: results.length > MAX_RESULTS,
      endTime: this.#now(),
      error,
      results: results.length === 0 ? null : results.slice(0, MAX_RESULTS),
    };
  }

  /** Checks the current references and repairs them in the same turn of the event loop. */
  #look(fix: boolean): Promise<IntegrityResult[]> {
    return this.#state.change((transaction) => {
      const faults = REFERENCES.flatMap((reference) => findFaults(reference, this.#state));
      return faults.map((fault) => {
        const fixed = fix && fault.reference.repair !== 'report';
        if (fixed) repair(transaction, fault);
        return { description: describe(fault), fixed };
      });
    });
  }

  #now(): string {
    return new Date(this.#clock.now()).toISOString();
  }
}

function findFaults(reference: KindReference, { tables }: State): Fault[] {
  const table: Table<Entity> = tables[reference.kind];
  const faults: Fault[] = [];
  for (const entity of table.values()) {
    const missing = idsIn(entity, reference).filter((id) => !tables[reference.to].has(id));
    if (missing.length > 0) faults.push({ reference, entity, missing });
  }
  return faults;
}

function repair(transaction: Transaction, { reference, entity, missing }: Fault): void {
  const { kind, key } = reference;
  const current = transaction.get(kind, entity.id);
  if (!current) return;
  if (reference.repair === 'delete') transaction.delete(kind, entity.id);
  else if (typeof reference.repair === 'object')
    transaction.patch(kind, entity.id, withValue(current, key, reference.repair.put));
  else transaction.patch(kind, entity.id, withoutIds(current, reference, missing));
}

function describe({ reference: { kind, key, to }, entity, missing }: Fault): string {
  return `${kind} ${entity.id} refers in ${key} to ${to} ${missing.join(', ')}, which does not exist`;
}
