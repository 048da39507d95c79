// The parts of an explanation: what holds and what is missing, with the remedy.

export interface Reason {
  readonly ok: boolean;
  /** The explained thing does not hold because of it. */
  readonly blocking?: true;
  readonly message: string;
  /** How to repair it; only if it is not ok. */
  readonly remedy?: string;
}

export interface Explanation {
  /** Whether it holds, as far as this router knows: no reason blocks. */
  readonly ok: boolean;
  readonly summary: string;
  readonly reasons: readonly Reason[];
}

/** Limit on the reasons about one kind of thing, such as the sessions of an identity. */
export const MAX_LISTED = 20;

export function good(message: string): Reason {
  return { ok: true, message };
}

export function bad(message: string, remedy: string): Reason {
  return { ok: false, message, remedy };
}

export function blocker(message: string, remedy: string): Reason {
  return { ok: false, blocking: true, message, remedy };
}

/** `holds` and `fails` are the summaries. */
export function explanation(reasons: readonly Reason[], holds: string, fails: string): Explanation {
  const ok = !reasons.some(({ blocking }) => blocking);
  return { ok, summary: ok ? holds : fails, reasons };
}
