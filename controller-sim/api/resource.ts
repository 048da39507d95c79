// The five operations that nearly every entity has, made from what is special about it.

import { selectByRoles } from '#model/roles.ts';
import { existing } from '../entities/common.ts';
import type { Symbols } from '../filter/compile.ts';
import { Body, type Mode } from '../request/body.ts';
import type { ApiRequest, ApiServices, Operation } from '../request/context.ts';
import { invalid } from '../request/errors.ts';
import type { Table } from '../state/table.ts';
import type { Transaction } from '../state/transaction.ts';
import type { EntityKind, EntityTypes } from '../state/types.ts';
import { listPage } from './list.ts';
import { created, PLURAL } from './references.ts';

/** Kinds with role attributes. */
const ROLE_KINDS: ReadonlySet<EntityKind> = new Set(['identity', 'router', 'service']);

/** What it takes to list entities of a kind. */
export interface Listed<K extends EntityKind> {
  readonly kind: K;
  readonly symbols: Symbols<EntityTypes[K]>;
  show(entity: EntityTypes[K], services: ApiServices, request: ApiRequest): Record<string, unknown>;
}

export interface Resource<K extends EntityKind, P = undefined> extends Listed<K> {
  newId?(services: ApiServices): string;
  /** What has to be waited for before the transaction. */
  prepare?(request: ApiRequest, id: string, body: Body): Promise<P>;
  create?(transaction: Transaction, id: string, body: Body, prepared: P, request: ApiRequest): void;
  update?(transaction: Transaction, entity: EntityTypes[K], body: Body): void;
  remove?(transaction: Transaction, entity: EntityTypes[K]): void;
}

/** GET list, POST, GET one, PUT, PATCH, DELETE, as far as the resource has them; all for administrators. */
export function operations<K extends EntityKind, P = undefined>(resource: Resource<K, P>): Operation[] {
  const path = `/${PLURAL[resource.kind]}`;
  const made: Operation[] = [
    {
      method: 'GET',
      path,
      requires: 'admin',
      handle: (request) => ({
        page: listPage(table(request, resource.kind), request.query, resource.symbols, (entity) =>
          resource.show(entity, request.services, request),
        ),
      }),
    },
    {
      method: 'GET',
      path: `${path}/:id`,
      requires: 'admin',
      handle: (request) => ({ data: resource.show(find(request, resource.kind), request.services, request) }),
    },
  ];
  if (resource.create)
    made.push({ method: 'POST', path, requires: 'admin', handle: (request) => create(resource, request) });
  if (resource.update) {
    for (const [method, mode] of [
      ['PUT', 'update'],
      ['PATCH', 'patch'],
    ] as const)
      made.push({
        method,
        path: `${path}/:id`,
        requires: 'admin',
        handle: (request) => update(resource, request, mode),
      });
  }
  if (resource.remove)
    made.push({
      method: 'DELETE',
      path: `${path}/:id`,
      requires: 'admin',
      handle: (request) => remove(resource, request),
    });
  return made;
}

/** The entity that the path names; 404 when there is none. */
export function find<K extends EntityKind>(request: ApiRequest, kind: K): EntityTypes[K] {
  const { tables } = request.services.state;
  return existing(
    { get: (each: K, id: string) => tables[each].get(id) } as unknown as Transaction,
    kind,
    request.params.id ?? '',
  ) as EntityTypes[K];
}

/** A list of entities that another one leads to. */
export function subList<K extends EntityKind>(
  resource: Listed<K>,
  path: string,
  select: (request: ApiRequest) => Iterable<EntityTypes[K]>,
): Operation {
  return {
    method: 'GET',
    path,
    requires: 'admin',
    handle: (request) => ({
      page: listPage(select(request), request.query, resource.symbols, (entity) =>
        resource.show(entity, request.services, request),
      ),
    }),
  };
}

/** All entities of a kind, or those that `roleFilter` selects: `#attribute`, `@id`, by `roleSemantic` (AllOf when left out). */
function table<K extends EntityKind>({ services, query }: ApiRequest, kind: K): Iterable<EntityTypes[K]> {
  const all = services.state.tables[kind] as unknown as Table<EntityTypes[K]>;
  const roles = query.getAll('roleFilter');
  if (roles.length === 0 || !ROLE_KINDS.has(kind)) return all.values();
  const semantic = query.get('roleSemantic') === 'AnyOf' ? 'AnyOf' : 'AllOf';
  return [...selectByRoles(roles.map(checkedRole), semantic, all)].flatMap((id) => all.get(id) ?? []);
}

function checkedRole(role: string): string {
  if (/^[#@]/.test(role)) return role;
  const reason = `'${role}' is neither role attribute (prefixed with #) or an entity id or name (prefixed with @)`;
  throw invalid('roleFilter', reason, role);
}

async function create<K extends EntityKind, P>(resource: Resource<K, P>, request: ApiRequest) {
  const { services } = request;
  if (request.body === undefined) throw invalid(resource.kind, `${resource.kind} in body is required`, '');
  const body = new Body(request.body, 'create');
  const id = resource.newId?.(services) ?? services.state.ids.long();
  const prepared = (await resource.prepare?.(request, id, body)) as P;
  await services.state.change((transaction) => resource.create?.(transaction, id, body, prepared, request));
  return { status: 201, data: created(resource.kind, id) };
}

async function update<K extends EntityKind, P>(resource: Resource<K, P>, request: ApiRequest, mode: Mode) {
  const body = new Body(request.body, mode);
  body.demandSomeOf(Object.keys(request.body as object));
  await request.services.state.change((transaction) => {
    const entity = existing(transaction, resource.kind, request.params.id ?? '') as EntityTypes[K];
    resource.update?.(transaction, entity, body);
  });
  return { data: {} };
}

async function remove<K extends EntityKind, P>(resource: Resource<K, P>, request: ApiRequest) {
  await request.services.state.change((transaction) => {
    const entity = existing(transaction, resource.kind, request.params.id ?? '') as EntityTypes[K];
    resource.remove?.(transaction, entity);
  });
  return { data: {} };
}
