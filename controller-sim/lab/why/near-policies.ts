// Policies that nearly grant: they have one side of the pair, and the other side lacks a role.

import type { Semantic } from '#model/roles.ts';

interface Side {
  /** The member's kind in a sentence, such as `identity`. */
  readonly word: string;
  readonly roles: readonly string[];
  readonly entity: { readonly id: string; readonly name: string; readonly roleAttributes: readonly string[] };
}

export interface Missing {
  readonly message: string;
  readonly remedy: string;
}

/** Why a policy does not select an entity. */
export function missingRole(policy: { readonly name: string; readonly semantic: Semantic }, side: Side): Missing {
  const { word, roles, entity } = side;
  const wanted = roles.filter((role) => role.startsWith('#')).map((role) => role.slice(1));
  const missing = wanted.filter((attribute) => !entity.roleAttributes.includes(attribute));
  const whom = `the ${word} ${entity.name}`;
  if (missing.length === 0)
    return {
      message: `${policy.name} does not select ${whom}: it names other entities`,
      remedy: `add @${entity.id} to its ${word} roles`,
    };
  const one = policy.semantic === 'AnyOf' && missing.length > 1;
  const list = missing.map((attribute) => `#${attribute}`).join(', ');
  return {
    message: `${policy.name} does not select ${whom}, which lacks ${one ? 'one of ' : ''}${list} (${policy.semantic})`,
    remedy: `give ${whom} the role attribute ${one ? `${missing[0]}, or another one of them` : missing.join(', ')}`,
  };
}
