// Checks that references between entities resolve, and repairs those that do not: one run at a time.

import type { Clock } from '#lib/clock.ts';
import { describeError } from '#lib/errors.ts';
import type { State } from './state.ts';
import type { Table } from './table.ts';
import type { Transaction } from './transaction.ts';
import type { Entity, EntityKind } from './types.ts';

/** A field with the id of another entity, or a list of ids, and the repair of an id that does not resolve. */
interface Reference {
  readonly kind: EntityKind;
  /** Path of field names, separated by dots. */
  readonly key: string;
  readonly to: EntityKind;
  /** Where ids are found: in `@id` selectors, in map keys, in the lists of a map, or in the value itself. */
  readonly form: 'id' | 'ids' | 'selectors' | 'map' | 'lists';
  /**
   * `delete`: the entity is useless without it. `remove`: the id is removed. `put`: this id replaces it. `report`: the
   * intended id is unknown, so an administrator must repair it.
   */
  readonly mend: 'delete' | 'remove' | 'report' | { readonly put: string };
}

const REFERENCES: readonly Reference[] = [
  { kind: 'apiSession', key: 'identityId', to: 'identity', form: 'id', mend: 'delete' },
  { kind: 'apiSessionCertificate', key: 'apiSessionId', to: 'apiSession', form: 'id', mend: 'delete' },
  { kind: 'authenticator', key: 'identityId', to: 'identity', form: 'id', mend: 'delete' },
  { kind: 'authPolicy', key: 'primary.extJwt.allowedSigners', to: 'externalJwtSigner', form: 'ids', mend: 'remove' },
  // A missing signer blocks every login; removing the requirement would permit every login.
  { kind: 'authPolicy', key: 'secondary.requireExtJwtSigner', to: 'externalJwtSigner', form: 'id', mend: 'report' },
  { kind: 'config', key: 'configTypeId', to: 'configType', form: 'id', mend: 'delete' },
  { kind: 'edgeRouterPolicy', key: 'edgeRouterRoles', to: 'router', form: 'selectors', mend: 'remove' },
  { kind: 'edgeRouterPolicy', key: 'identityRoles', to: 'identity', form: 'selectors', mend: 'remove' },
  { kind: 'enrollment', key: 'identityId', to: 'identity', form: 'id', mend: 'delete' },
  { kind: 'enrollment', key: 'routerId', to: 'router', form: 'id', mend: 'delete' },
  { kind: 'enrollment', key: 'caId', to: 'ca', form: 'id', mend: 'delete' },
  { kind: 'externalJwtSigner', key: 'enrollAuthPolicyId', to: 'authPolicy', form: 'id', mend: { put: 'default' } },
  { kind: 'identity', key: 'authPolicyId', to: 'authPolicy', form: 'id', mend: { put: 'default' } },
  { kind: 'identity', key: 'serviceConfigs', to: 'service', form: 'map', mend: 'remove' },
  { kind: 'identity', key: 'serviceConfigs', to: 'config', form: 'lists', mend: 'remove' },
  { kind: 'identity', key: 'serviceHostingCosts', to: 'service', form: 'map', mend: 'remove' },
  { kind: 'identity', key: 'serviceHostingPrecedences', to: 'service', form: 'map', mend: 'remove' },
  { kind: 'mfa', key: 'identityId', to: 'identity', form: 'id', mend: 'delete' },
  { kind: 'router', key: 'configs', to: 'config', form: 'ids', mend: 'remove' },
  { kind: 'service', key: 'configs', to: 'config', form: 'ids', mend: 'remove' },
  { kind: 'serviceEdgeRouterPolicy', key: 'edgeRouterRoles', to: 'router', form: 'selectors', mend: 'remove' },
  { kind: 'serviceEdgeRouterPolicy', key: 'serviceRoles', to: 'service', form: 'selectors', mend: 'remove' },
  { kind: 'servicePolicy', key: 'identityRoles', to: 'identity', form: 'selectors', mend: 'remove' },
  { kind: 'servicePolicy', key: 'postureCheckRoles', to: 'postureCheck', form: 'selectors', mend: 'remove' },
  { kind: 'servicePolicy', key: 'serviceRoles', to: 'service', form: 'selectors', mend: 'remove' },
  { kind: 'session', key: 'apiSessionId', to: 'apiSession', form: 'id', mend: 'delete' },
  { kind: 'session', key: 'identityId', to: 'identity', form: 'id', mend: 'delete' },
  { kind: 'session', key: 'serviceId', to: 'service', form: 'id', mend: 'delete' },
  { kind: 'terminator', key: 'routerId', to: 'router', form: 'id', mend: 'delete' },
  { kind: 'terminator', key: 'serviceId', to: 'service', form: 'id', mend: 'delete' },
];

/** Deletions can invalidate further references; no chain of references is longer. */
const MOST_ROUNDS = 10;
/** reference fact: limit on listed results. */
const MOST_RESULTS = 1_000;

export interface IntegrityResult {
  readonly description: string;
  readonly fixed: boolean;
}

export interface IntegrityReport {
  readonly inProgress: boolean;
  readonly fixingErrors: boolean;
  readonly tooManyErrors: boolean;
  /** RFC 3339; null before the first run. */
  readonly startTime: string | null;
  readonly endTime: string | null;
  readonly error: string | null;
  readonly results: readonly IntegrityResult[] | null;
}

interface Fault {
  readonly reference: Reference;
  readonly entity: Entity;
  readonly missing: readonly string[];
}

export class DataIntegrity {
  readonly #state: State;
  readonly #clock: Clock;
  #report: IntegrityReport = {
    inProgress: false,
    fixingErrors: false,
    tooManyErrors: false,
    startTime: null,
    endTime: null,
    error: null,
    results: null,
  };

  constructor(state: State, clock: Clock) {
    this.#state = state;
    this.#clock = clock;
  }

  get report(): IntegrityReport {
    return this.#report;
  }

  /** Starts a run, which ends on its own. Returns false if one is in progress. */
  start(options: { fix: boolean }): boolean {
    if (this.#report.inProgress) return false;
    this.#report = {
      inProgress: true,
      fixingErrors: options.fix,
      tooManyErrors: false,
      startTime: this.#now(),
      endTime: null,
      error: null,
      results: null,
    };
    void this.#run(options.fix);
    return true;
  }

  async #run(fix: boolean): Promise<void> {
    let error: string | null = null;
    const results: IntegrityResult[] = [];
    try {
      for (let round = 0, wasMended = true; wasMended && round < MOST_ROUNDS; round++) {
        const faults = (await this.#look(fix)).filter(({ fixed }) => round === 0 || fixed);
        results.push(...faults);
        wasMended = faults.some(({ fixed }) => fixed);
      }
    } catch (thrown) {
      error = describeError(thrown);
    }
    this.#report = {
      ...this.#report,
      inProgress: false,
      tooManyErrors: results.length > MOST_RESULTS,
      endTime: this.#now(),
      error,
      results: results.length === 0 ? null : results.slice(0, MOST_RESULTS),
    };
  }

  /** Checks the current references and repairs them in the same turn of the event loop. */
  #look(fix: boolean): Promise<IntegrityResult[]> {
    return this.#state.change((transaction) => {
      const faults = REFERENCES.flatMap((reference) => findFaults(reference, this.#state));
      return faults.map((fault) => {
        const fixed = fix && fault.reference.mend !== 'report';
        if (fixed) mend(transaction, fault);
        return { description: describe(fault), fixed };
      });
    });
  }

  #now(): string {
    return new Date(this.#clock.now()).toISOString();
  }
}

function findFaults(reference: Reference, { tables }: State): Fault[] {
  const table = tables[reference.kind] as unknown as Table<Entity>;
  const faults: Fault[] = [];
  for (const entity of table.values()) {
    const missing = idsIn(entity, reference).filter((id) => !tables[reference.to].has(id));
    if (missing.length > 0) faults.push({ reference, entity, missing });
  }
  return faults;
}

function keyOf(entity: Entity, key: string): unknown {
  return key.split('.').reduce((value: unknown, part) => (value as Readonly<Record<string, unknown>>)[part], entity);
}

function idsIn(entity: Entity, { key, form }: Reference): string[] {
  const value = keyOf(entity, key);
  if (value === null || value === undefined || value === '') return [];
  switch (form) {
    case 'id':
      return [value as string];
    case 'ids':
      return [...(value as readonly string[])];
    case 'selectors':
      return (value as readonly string[]).flatMap((each) => (each.startsWith('@') ? [each.slice(1)] : []));
    case 'map':
      return Object.keys(value);
    case 'lists':
      return Object.values(value as Readonly<Record<string, readonly string[]>>).flat();
  }
}

function mend(transaction: Transaction, { reference, entity, missing }: Fault): void {
  const { kind, key, form } = reference;
  const current = transaction.get(kind, entity.id);
  if (!current) return;
  if (reference.mend === 'delete') {
    transaction.delete(kind, entity.id);
    return;
  }
  const isLost = (id: string) => missing.includes(id.replace(/^@/, ''));
  const value = keyOf(current, key);
  let mended: unknown;
  if (typeof reference.mend === 'object') mended = reference.mend.put;
  else if (form === 'map') mended = Object.fromEntries(Object.entries(value as object).filter(([id]) => !isLost(id)));
  else if (form === 'lists')
    mended = Object.fromEntries(
      Object.entries(value as Record<string, readonly string[]>)
        .map(([id, list]) => [id, list.filter((each) => !isLost(each))] as const)
        .filter(([, list]) => list.length > 0),
    );
  else mended = (value as readonly string[]).filter((each) => !isLost(each));
  const [first = '', ...rest] = key.split('.');
  transaction.patch(kind, entity.id, { [first]: replaced(keyOf(current, first), rest, mended) });
}

/** A copy of `value` with another value at a path of keys. */
function replaced(value: unknown, [key, ...rest]: readonly string[], wanted: unknown): unknown {
  if (key === undefined) return wanted;
  const map = value as Readonly<Record<string, unknown>>;
  return { ...map, [key]: replaced(map[key], rest, wanted) };
}

function describe({ reference: { kind, key, to }, entity, missing }: Fault): string {
  return `${kind} ${entity.id} refers in ${key} to ${to} ${missing.join(', ')}, which does not exist`;
}
