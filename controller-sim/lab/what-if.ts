// Compares the rights of identities before and after a change of the network, on a copy of its data.
//
//   tables ─► copy ─► rights before ─► seed ─► rights after ─► who gained, who lost

import { Access } from '../access/access.ts';
import type { PermissionType } from '../state/entity.ts';
import type { Identity } from '../state/kinds/identity.ts';
import type { State } from '../state/state.ts';
import { copyOf } from './copied-state.ts';
import { InvalidError } from './lab-error.ts';
import type { SeedDocument } from './seed/export.ts';
import { prepareSeed, type SeedComponents } from './seed/seed.ts';
import type { Seeded, SeedOptions } from './seed/seeded.ts';

/** Pairs of identity and service that are compared. */
const MAX_RIGHTS = 5_000_000;
const MAX_LISTED = 1_000;
const TYPES: readonly PermissionType[] = ['Dial', 'Bind'];

export interface Right {
  readonly identity: string;
  readonly service: string;
  readonly type: PermissionType;
}

export interface WhatIf {
  /** The first 1,000, sorted by identity. */
  readonly gained: readonly Right[];
  readonly lost: readonly Right[];
  readonly totals: { readonly gained: number; readonly lost: number };
  /** The changes of the document. */
  readonly seeded: Seeded;
}

/** `apply` is true: entities that exist become what the document says. */
export type WhatIfOptions = Pick<SeedOptions, 'prune'>;

/** Name of an identity → the names of the services that it may use, as `Dial web`. */
type Rights = ReadonlyMap<string, ReadonlySet<string>>;

export async function whatIf(
  components: SeedComponents,
  document: SeedDocument | string,
  { prune = false }: WhatIfOptions,
): Promise<WhatIf> {
  await using state = await copyOf(components.state);
  const access = new Access(state);
  try {
    const before = rightsOf(state, access);
    const prepared = await prepareSeed({ ...components, state }, document, { apply: true, prune, plan: true });
    const seeded = await state.change((transaction) => prepared.apply(transaction));
    const after = rightsOf(state, access);
    const [gained, lost] = [missingIn(before, after), missingIn(after, before)];
    return {
      gained: gained.slice(0, MAX_LISTED),
      lost: lost.slice(0, MAX_LISTED),
      totals: { gained: gained.length, lost: lost.length },
      seeded,
    };
  } finally {
    access.close();
  }
}

function rightsOf({ tables }: State, access: Access): Rights {
  let count = 0;
  return new Map(
    [...tables.identity.values()].map(({ id, name }: Identity) => {
      const services = TYPES.flatMap((type) => access.servicesOf(id, type).map((service) => `${type} ${service.name}`));
      count += services.length;
      if (count > MAX_RIGHTS)
        throw new InvalidError('document', `the network has more than ${MAX_RIGHTS} rights to compare`, '');
      return [name, new Set(services)];
    }),
  );
}

/** The rights of `all` that `some` has not. */
function missingIn(some: Rights, all: Rights): Right[] {
  return [...all]
    .flatMap(([identity, services]) =>
      [...services].flatMap((right) => {
        if (some.get(identity)?.has(right)) return [];
        const [type = 'Dial', ...service] = right.split(' ');
        return [{ identity, service: service.join(' '), type: type as PermissionType }];
      }),
    )
    .sort((a, b) => orderOf(a).localeCompare(orderOf(b), 'en'));
}

function orderOf({ identity, type, service }: Right): string {
  return `${identity}\n${type}\n${service}`;
}
