// The groups of link listeners and dialers: a dialer dials the listeners that share a group with it.

/** The groups of a listener or dialer whose configuration names none. */
const DEFAULT_GROUP = ['default'];

export function groupsOrDefault(groups: readonly string[]): readonly string[] {
  return groups.length > 0 ? groups : DEFAULT_GROUP;
}
