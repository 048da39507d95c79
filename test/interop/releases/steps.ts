// Runs the steps of a trial and keeps what works and what does not: the row that the script prints for a program.

import type { TrialRow, Verdict } from '../../../tools/compat/compat-results.ts';

/** Characters of a reason: a row is a line of a table. */
const REASON_LENGTH = 200;
/** The folders of an absolute path, but not the path of a URL. */
const FOLDERS = /(?<![\w:/])\/(?:[\w.@+-]+\/)+/g;

/** A program that is tried. */
export interface Subject {
  readonly program: string;
  readonly release: string;
}

/** How a step of another process went. */
export interface StepReport {
  readonly name: string;
  /** Missing if it works. */
  readonly error?: string;
}

export class Steps {
  readonly #subject: Subject;
  readonly #works: string[] = [];
  readonly #fails: string[] = [];
  readonly #report: (line: string) => void;

  /** @param report Receives a line about each step, failures with everything that is known. */
  constructor(subject: Subject, report: (line: string) => void) {
    this.#subject = subject;
    this.#report = report;
  }

  /** Resolves with false if `run` rejects. The name says what works, such as `enrollment`. */
  async try(name: string, run: () => Promise<unknown>): Promise<boolean> {
    const { program, release } = this.#subject;
    try {
      await run();
    } catch (error) {
      const { message } = error as Error;
      this.#fails.push(`${name}: ${reasonOf(message)}`);
      this.#report(`${program} ${release}: ${name} does not work: ${message}`);
      return false;
    }
    this.#works.push(name);
    this.#report(`${program} ${release}: ${name} works`);
    return true;
  }

  get row(): TrialRow {
    return { ...this.#subject, verdict: this.#verdict, works: [...this.#works], fails: [...this.#fails] };
  }

  get #verdict(): Verdict {
    if (this.#works.length === 0) return 'fails';
    return this.#fails.length === 0 ? 'works' : 'partly';
  }
}

/** The first line and the last one, where programs print their error. Without folders of this machine. */
function reasonOf(message: string): string {
  const lines = message.trim().split('\n');
  const text = lines.length === 1 ? (lines[0] ?? '') : `${lines[0]} ${lines.at(-1)}`;
  const shown = text.replaceAll(FOLDERS, '');
  return shown.length > REASON_LENGTH ? `${shown.slice(0, REASON_LENGTH)}…` : shown;
}
