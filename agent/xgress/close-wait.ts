// The wait of a closing end for its peer. A client that pauses for long fills its buffers, so that nothing is
// acknowledged: the peer is silent, but not gone. So this end asks for signs of life, and the wait starts over with
// each.

/** Questions to a silent peer within one wait: links drop questions when they are full. */
const QUESTIONS = 4;

export class CloseWait {
  readonly #limit: number;
  #began = 0;
  #endsAt = Number.POSITIVE_INFINITY;
  #nextQuestion = Number.POSITIVE_INFINITY;

  /** @param limit Milliseconds. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Starts the wait, or starts it over. */
  start(now: number, limit = this.#limit): void {
    this.#began = now;
    this.#endsAt = now + limit;
    this.#nextQuestion = now + limit / QUESTIONS;
  }

  stop(): void {
    this.#endsAt = Number.POSITIVE_INFINITY;
    this.#nextQuestion = Number.POSITIVE_INFINITY;
  }

  isOver(now: number): boolean {
    return now >= this.#endsAt;
  }

  /** Whether something that arrived at `time` arrived during this wait. */
  includes(time: number): boolean {
    return time > this.#began;
  }

  /** Returns true if a question to the peer is due. The caller asks it. */
  takeQuestion(now: number): boolean {
    if (now < this.#nextQuestion) return false;
    this.#nextQuestion = now + this.#limit / QUESTIONS;
    return true;
  }
}
