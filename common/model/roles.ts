// Role attributes and the selectors of policies: `#attribute`, `@id`, `#all` (reference fact: HTTP behaviour, Roles).
// Pure functions: the simulator uses them for its policies and to explain decisions.

export type Semantic = 'AllOf' | 'AnyOf';

const ALL = '#all';

/** A lookup of entities and their role attributes. */
export interface RoleIndex {
  has(id: string): boolean;
  withRole(attribute: string): ReadonlySet<string>;
  values(): Iterable<{ readonly id: string }>;
}

/** Ids of the entities that the selectors of a policy match. `@id` always matches; attributes match by the semantic. */
export function selectByRoles(roles: readonly string[], semantic: Semantic, index: RoleIndex): Set<string> {
  return roles.includes(ALL)
    ? new Set([...index.values()].map(({ id }) => id))
    : selectByAttributes(roles, semantic, index);
}

/** Like `selectByRoles`, but `#all` is an attribute like any other (reference fact: in the query of lists). */
export function selectByAttributes(roles: readonly string[], semantic: Semantic, index: RoleIndex): Set<string> {
  const selected = new Set<string>();
  for (const role of roles) if (role.startsWith('@') && index.has(role.slice(1))) selected.add(role.slice(1));
  const groups = roles.filter((role) => role.startsWith('#')).map((role) => index.withRole(role.slice(1)));
  const [first, ...others] = groups;
  for (const group of semantic === 'AnyOf' ? groups : first ? [first] : []) {
    for (const id of group) if (semantic === 'AnyOf' || others.every((other) => other.has(id))) selected.add(id);
  }
  return selected;
}

/** Whether the selectors match one entity: the same rule as `selectByRoles`, for a single entity. */
export function selectedByRoles(
  roles: readonly string[],
  semantic: Semantic,
  entity: { readonly id: string; readonly roleAttributes: readonly string[] },
): boolean {
  if (roles.includes(ALL) || roles.includes(`@${entity.id}`)) return true;
  const wanted = roles.filter((role) => role.startsWith('#')).map((role) => role.slice(1));
  if (wanted.length === 0) return false;
  const bears = (attribute: string) => entity.roleAttributes.includes(attribute);
  return semantic === 'AnyOf' ? wanted.some(bears) : wanted.every(bears);
}

/** The selectors that can match an entity. */
export function rolesThatCanSelect(entity: {
  readonly id: string;
  readonly roleAttributes: readonly string[];
}): readonly string[] {
  return [ALL, `@${entity.id}`, ...entity.roleAttributes.map((attribute) => `#${attribute}`)];
}
