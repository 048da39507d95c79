// Policies that nearly grant: they have one side of the pair, and the other side lacks a role.

import type { Semantic } from '#model/roles.ts';
import type { SeedDocument } from '../seed/export.ts';
import { type About, bad, type Finding } from './finding.ts';

interface Side {
  /** The member's kind in a sentence, such as `identity`. */
  readonly word: keyof typeof SECTIONS;
  readonly roles: readonly string[];
  readonly entity: { readonly id: string; readonly name: string; readonly roleAttributes: readonly string[] };
}

export interface Missing {
  readonly message: string;
  readonly remedy: string;
  /** Gives the entity the attributes that it lacks. */
  readonly repair?: SeedDocument;
}

/** Sections of a seed by the kind in a sentence. */
const SECTIONS = { identity: 'identities', service: 'services', router: 'edgeRouters' } as const;

/** The finding about a policy that lacks an entity. */
export function lacking(about: About, { message, remedy, repair }: Missing): Finding {
  return { ...bad(about, message, remedy), ...(repair && { repair }) };
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
      remedy: `add @${entity.name} to its ${word} roles`,
    };
  const one = policy.semantic === 'AnyOf' && missing.length > 1;
  const { name, roleAttributes } = entity;
  const given = one ? missing.slice(0, 1) : missing;
  const list = missing.map((attribute) => `#${attribute}`).join(', ');
  return {
    message: `${policy.name} does not select ${whom}, which lacks ${one ? 'one of ' : ''}${list} (${policy.semantic})`,
    remedy: `give ${whom} the role attribute ${one ? `${missing[0]}, or another one of them` : missing.join(', ')}`,
    repair: { [SECTIONS[word]]: [{ name, roleAttributes: [...roleAttributes, ...given] }] },
  };
}
