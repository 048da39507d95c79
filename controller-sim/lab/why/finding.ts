// The parts of an explanation: what holds and what is missing, each with the entity that decides and the remedy.

import type { SeedDocument } from '../seed/export.ts';

export type FindingKind =
  | 'identity'
  | 'authPolicy'
  | 'apiSession'
  | 'service'
  | 'servicePolicy'
  | 'postureCheck'
  | 'edgeRouterPolicy'
  | 'serviceEdgeRouterPolicy'
  | 'router'
  | 'terminator'
  | 'link';

export interface Finding {
  readonly ok: boolean;
  /** Access is denied because of it. A problem that does not block has an alternative that works. */
  readonly blocking?: true;
  /** The kind, id and name of the entity that decides. */
  readonly kind: FindingKind;
  readonly id: string;
  readonly name: string;
  readonly message: string;
  /** How to repair it; only if it is not ok. */
  readonly remedy?: string;
  /** A seed that does so, for `seed` with `apply`; missing where a seed cannot. */
  readonly repair?: SeedDocument;
}

export type About = readonly [kind: FindingKind, entity: { readonly id: string; readonly name?: string }];

/** Limit on the findings about one kind of entity. */
export const MAX_LISTED = 20;
/** Limit on the names in a sentence. */
const MAX_NAMED = 10;

export function good([kind, { id, name = id }]: About, message: string): Finding {
  return { ok: true, kind, id, name, message };
}

export function bad([kind, { id, name = id }]: About, message: string, remedy: string): Finding {
  return { ok: false, kind, id, name, message, remedy };
}

export function blocker(about: About, message: string, remedy: string, repair?: SeedDocument): Finding {
  return { ...bad(about, message, remedy), blocking: true, ...(repair && { repair }) };
}

/** Problems among alternatives: they block if no alternative works. */
export function alternatives(findings: readonly Finding[], works: boolean): Finding[] {
  return works ? [...findings] : findings.map((finding) => (finding.ok ? finding : { ...finding, blocking: true }));
}

/** The first findings, and one that counts the others. */
export function limited(findings: readonly Finding[]): Finding[] {
  const [first, ...others] = findings.slice(MAX_LISTED);
  if (!first) return [...findings];
  const rest = `${others.length + 1} more are not listed`;
  // Problems that block have to remain visible.
  const isBlocking = [first, ...others].some(({ blocking }) => blocking);
  const summary: Finding = { ...first, message: rest, ...(isBlocking && { blocking: true }) };
  return [...findings.slice(0, MAX_LISTED), summary];
}

/** The names in one sentence. */
export function names(entities: Iterable<{ readonly name: string }>): string {
  const all = Array.from(entities, ({ name }) => name);
  const rest = all.length - MAX_NAMED;
  return rest > 0 ? `${all.slice(0, MAX_NAMED).join(', ')} and ${rest} more` : all.join(', ');
}
