// Problems of services that the data model contains: each is logged once, not with every change of the model. A problem
// that ended is logged again if it returns.

/** Bounded by the services of the data model. */
export class ServiceProblems {
  #known: ReadonlyMap<string, string> = new Map();
  #found = new Map<string, string>();

  /** Returns false if the last round found the same problem. A round finds at most one problem of each subject. */
  isNew(subject: string, problem: string): boolean {
    this.#found.set(subject, problem);
    return this.#known.get(subject) !== problem;
  }

  /** All services have been read. */
  endRound(): void {
    this.#known = this.#found;
    this.#found = new Map();
  }
}
