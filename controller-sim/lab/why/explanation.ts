// An explanation that is not about the access to a service: what holds or not, in a sentence, and the reasons.

import type { Finding } from './finding.ts';

export interface Explanation {
  /** Whether it holds: no reason blocks. */
  readonly ok: boolean;
  /** The verdict in a sentence, such as `anna cannot log in`. */
  readonly summary: string;
  readonly reasons: readonly Finding[];
}

/** `holds` and `fails` are the summaries. */
export function explanation(reasons: readonly Finding[], holds: string, fails: string): Explanation {
  const ok = !reasons.some(({ blocking }) => blocking);
  return { ok, summary: ok ? holds : fails, reasons };
}
