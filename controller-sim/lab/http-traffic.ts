// The requests to the APIs as the lab sees them: recorded in the journal, and subject to faults.

import type { AppliedAnswer, Faults, FaultyRequest } from './faults/faults.ts';
import { HttpRecord, type NewRequest } from './journal/http-record.ts';
import type { Journal } from './journal/journal.ts';

export class HttpTraffic {
  readonly #journal: Pick<Journal, 'add'>;
  readonly #faults: Faults;

  constructor(journal: Pick<Journal, 'add'>, faults: Faults) {
    this.#journal = journal;
    this.#faults = faults;
  }

  /** The record of a request; its end adds it to the journal. */
  begin(request: NewRequest): HttpRecord {
    return new HttpRecord(request, this.#journal);
  }

  get isActive(): boolean {
    return this.#faults.hasHttp;
  }

  get needsIdentity(): boolean {
    return this.#faults.needsIdentity;
  }

  /** The fault of a request; counts it. */
  faultOf(request: FaultyRequest): AppliedAnswer | undefined {
    return this.#faults.forRequest(request);
  }
}
