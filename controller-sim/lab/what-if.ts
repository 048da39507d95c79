// Compares the rights of identities before and after a change of the network, on a copy of its data.
//
//   tables ─► copy ─► rights before ─► seed ─► rights after ─► who gained, who lost

import { inSlices } from '#lib/slices.ts';
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
    const before = await inSlices(rightsOf(state, access));
    const prepared = await prepareSeed({ ...components, state }, document, { apply: true, prune, plan: true });
    const seeded = await state.changeInSlices((transaction) => prepared.apply(transaction));
    const after = await inSlices(rightsOf(state, access));
    const [gained, lost] = [await inSlices(missingIn(before, after)), await inSlices(missingIn(after, before))];
    return {
      gained: gained.listed,
      lost: lost.listed,
      totals: { gained: gained.total, lost: lost.total },
      seeded,
    };
  } finally {
    access.close();
  }
}

/** One identity in each step. */
function* rightsOf({ tables }: State, access: Access): Generator<void, Rights> {
  let count = 0;
  const rights = new Map<string, ReadonlySet<string>>();
  for (const { id, name } of [...tables.identity.values()] as Identity[]) {
    const services = TYPES.flatMap((type) => access.servicesOf(id, type).map((service) => `${type} ${service.name}`));
    count += services.length;
    if (count > MAX_RIGHTS)
      throw new InvalidError('document', `the network has more than ${MAX_RIGHTS} rights to compare`, '');
    rights.set(name, new Set(services));
    yield;
  }
  return rights;
}

/** The rights of `all` that `some` has not: how many, and the first ones. One identity in each step. */
function* missingIn(some: Rights, all: Rights): Generator<void, { readonly total: number; readonly listed: Right[] }> {
  const missing = new Map<string, ReadonlySet<string>>();
  let total = 0;
  for (const [identity, services] of all) {
    const own = services.difference(some.get(identity) ?? new Set());
    total += own.size;
    if (own.size > 0) missing.set(identity, own);
    yield;
  }
  const listed: Right[] = [];
  for (const identity of [...missing.keys()].sort()) {
    if (listed.length >= MAX_LISTED) break;
    for (const right of [...(missing.get(identity) ?? [])].sort()) {
      const [type = 'Dial', ...service] = right.split(' ');
      listed.push({ identity, service: service.join(' '), type: type as PermissionType });
    }
    yield;
  }
  return { total, listed: listed.slice(0, MAX_LISTED) };
}
