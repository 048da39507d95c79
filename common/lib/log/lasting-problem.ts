// A problem that is logged when it begins or changes, not again while it lasts.

export class LastingProblem {
  #current: string | boolean | undefined;

  /**
   * Notes the problem, or with undefined, false or an empty text that it has ended. Returns whether it is a new one.
   */
  note(problem: string | boolean | undefined): boolean {
    const isNew = Boolean(problem) && problem !== this.#current;
    this.#current = problem;
    return isNew;
  }
}
