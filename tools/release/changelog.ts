// The sections of CHANGELOG.md. The newest is the first; an unreleased one has "not released" instead of its date.

const HEADING = /^## (?<version>\d+\.\d+\.\d+), (?<state>not released|\d{4}-\d{2}-\d{2})$/m;

export interface Section {
  readonly version: string;
  /** Undefined if it is not released. */
  readonly date: string | undefined;
  readonly text: string;
}

/** @throws Error if the first section has another heading */
export function newestSection(changelog: string): Section {
  const found = HEADING.exec(changelog);
  const { version = '', state = '' } = found?.groups ?? {};
  if (!found) throw new Error('CHANGELOG.md has no section "## VERSION, not released" or "## VERSION, YYYY-MM-DD"');
  const rest = changelog.slice(found.index + found[0].length);
  const end = rest.search(/^## /m);
  const text = (end < 0 ? rest : rest.slice(0, end)).trim();
  return { version, date: state === 'not released' ? undefined : state, text };
}

/** The change log with the first section as that of a release. */
export function released(changelog: string, version: string, date: string): string {
  newestSection(changelog);
  return changelog.replace(HEADING, `## ${version}, ${date}`);
}
