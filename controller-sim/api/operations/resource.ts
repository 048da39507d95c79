// The six operations that nearly every entity has, built from a description of the entity: list, detail, create,
// update, patch, delete.

import { type Semantic, selectByAttributes } from '#model/roles.ts';
import type { CreateLocation } from '#schemas/api/gen/answers.ts';
import { Body, type Mode } from '../../entities/body.ts';
import { existing } from '../../entities/common.ts';
import { ApiError, badRequest, invalid, notFound } from '../../errors/errors.ts';
import type { Symbols } from '../../filter/compile.ts';
import { type EntityKind, type EntityTypes, KINDS, nameOf } from '../../state/kinds.ts';
import { Table } from '../../state/table.ts';
import type { Transaction } from '../../state/transaction.ts';
import { created } from '../answers/references.ts';
import type { ApiRequest, ApiServices, Data, Done, FullRequest, Json, JsonPage, Page } from './context.ts';
import { listPage } from './list.ts';

/** Characters of a name in a log line. */
const MAX_LOGGED_NAME_LENGTH = 64;

type Use = keyof ApiServices;

/**
 * Describes how entities of a kind are listed. `Detail` is their shown form (schemas/api/gen/answers.ts), `Uses` names
 * the components that the description uses.
 */
export interface Listed<K extends EntityKind, Detail, Uses extends Use> {
  readonly kind: K;
  /** Fields for filters and sorting. A function if they depend on the data, or on the caller's rights. */
  readonly symbols:
    | Symbols<EntityTypes[K]>
    | ((services: Pick<ApiServices, Uses>, request: ApiRequest<Uses>) => Symbols<EntityTypes[K]>);
  /** Selects the entities of this list; all of the kind if missing. */
  includes?(entity: EntityTypes[K]): boolean;
  readonly show: (entity: EntityTypes[K], services: Pick<ApiServices, Uses>, request: ApiRequest<Uses>) => Detail;
  /** The same as JSON in UTF-8, if it is cached. */
  readonly json?: (entity: EntityTypes[K], services: Pick<ApiServices, Uses>, request: ApiRequest<Uses>) => Buffer;
}

/** Entities that callers delete. */
export interface Removable<K extends EntityKind, Detail, Uses extends Use> extends Listed<K, Detail, Uses> {
  readonly remove: (transaction: Transaction, entity: EntityTypes[K], request: ApiRequest<Uses>) => void;
}

/** Entities that callers create with a body of one of the types `B`. `P` is the result of `prepare`. */
export interface Creatable<K extends EntityKind, Detail, B extends object, Uses extends Use, P = undefined>
  extends Listed<K, Detail, Uses> {
  /** Path segment for links; defaults to that of the kind. */
  readonly plural?: string;
  readonly newId?: (services: Pick<ApiServices, Uses>, body: Body<B>) => string;
  /** Asynchronous work before the transaction that creates or changes the entity. */
  readonly prepare?: (request: ApiRequest<Uses>, id: string, body: Body<B>) => Promise<P>;
  readonly create: (
    transaction: Transaction,
    id: string,
    body: Body<B>,
    prepared: P,
    request: ApiRequest<Uses>,
  ) => void;
}

/** An entity with all six operations. `B` has the bodies of a creation, an update and a patch. */
export interface Resource<K extends EntityKind, Detail, B extends object, Uses extends Use, P = undefined>
  extends Creatable<K, Detail, B, Uses, P>,
    Removable<K, Detail, Uses> {
  /** A patch with only these fields changes nothing and is rejected (reference fact: HTTP entities, section 1). */
  readonly fixed?: readonly string[];
  /** An unknown entity is reported before a body without changes. */
  readonly isLookedUpFirst?: boolean;
  readonly update: (
    transaction: Transaction,
    entity: EntityTypes[K],
    body: Body<B>,
    request: ApiRequest<Uses>,
    prepared: P,
  ) => void;
}

/** A list of entities, filtered, sorted and paged by the query; without `select`, all of the kind. */
export function list<K extends EntityKind, Detail, Uses extends Use, Asked extends Use = 'state' | 'access'>(
  listed: Listed<K, Detail, Uses>,
  select?: (request: ApiRequest<Asked>) => Iterable<EntityTypes[K]> | Table<EntityTypes[K]>,
): (request: FullRequest) => Page<Detail> | JsonPage {
  return (request) => {
    const { services, query } = request;
    const symbols = typeof listed.symbols === 'function' ? listed.symbols(services, request) : listed.symbols;
    const { json } = listed;
    const entities = () => selected(request, select ?? (() => all(request, listed)));
    if (!json) return { page: listPage(entities, query, symbols, (each) => listed.show(each, services, request)) };
    return { jsonPage: listPage(entities, query, symbols, (each) => json(each, services, request)) };
  };
}

export function detail<K extends EntityKind, Detail, Uses extends Use>(
  listed: Listed<K, Detail, Uses>,
): (request: FullRequest) => Data<Detail> | Json {
  return (request) => {
    const entity = found(request, listed);
    return listed.json
      ? { json: listed.json(entity, request.services, request) }
      : { data: listed.show(entity, request.services, request) };
  };
}

export function create<K extends EntityKind, Detail, B extends object, Uses extends Use, P>(
  resource: Creatable<K, Detail, B, Uses, P>,
): (request: FullRequest<B>) => Promise<Data<CreateLocation>> {
  return async (request) => {
    const { services } = request;
    const body = readBody(request, 'create');
    const id = resource.newId?.(services, body) ?? services.state.ids.long();
    const prepared = (await resource.prepare?.(request, id, body)) as P;
    await services.state.change((transaction) => resource.create(transaction, id, body, prepared, request));
    return { data: created(resource.plural ?? KINDS[resource.kind].plural, id) };
  };
}

export function update<K extends EntityKind, Detail, B extends object, Uses extends Use, P>(
  resource: Resource<K, Detail, B, Uses, P>,
): (request: FullRequest<B>) => Promise<Done> {
  return (request) => change(resource, request, 'update');
}

export function patch<K extends EntityKind, Detail, B extends object, Uses extends Use, P>(
  resource: Resource<K, Detail, B, Uses, P>,
): (request: FullRequest<B>) => Promise<Done> {
  return (request) => change(resource, request, 'patch');
}

export function remove<K extends EntityKind, Detail, Uses extends Use>(
  resource: Removable<K, Detail, Uses>,
): (request: FullRequest) => Promise<Done> {
  return async (request) => {
    await request.services.state.change((transaction) => {
      resource.remove(transaction, found(request, resource, transaction), request);
    });
    return { data: {} };
  };
}

/** Lists below an unknown entity are empty where the specification has no 404 for them. */
function selected<T, Asked extends Use>(request: FullRequest, select: (request: ApiRequest<Asked>) => T): T | [] {
  try {
    return select(request);
  } catch (error) {
    const isEmpty =
      error instanceof ApiError && error.code === 'NOT_FOUND' && !request.operation.rejections.includes(404);
    if (isEmpty) return [];
    throw error;
  }
}

/** The entity that the path names, else 404. */
export function find<K extends EntityKind>(
  { services, params }: ApiRequest<'state'>,
  kind: K,
  id = params.id ?? '',
): EntityTypes[K] {
  const entity = services.state.tables[kind].get(id);
  if (!entity) throw notFound(nameOf(kind), id);
  return entity;
}

/** The entity, in the state of the transaction if there is one. */
function found<K extends EntityKind, Detail, Uses extends Use>(
  request: ApiRequest<'state'>,
  resource: Listed<K, Detail, Uses>,
  transaction?: Transaction,
): EntityTypes[K] {
  const entity = transaction
    ? existing(transaction, resource.kind, request.params.id ?? '')
    : find(request, resource.kind);
  if (resource.includes?.(entity) === false) throw notFound(nameOf(resource.kind), entity.id);
  return entity;
}

/** All entities of a kind, or those that `roleFilter` selects. */
function all<K extends EntityKind, Detail, Uses extends Use>(
  request: ApiRequest<'state'>,
  listed: Listed<K, Detail, Uses>,
): Iterable<EntityTypes[K]> | Table<EntityTypes[K]> {
  const { includes } = listed;
  const selected = selectListed(request, listed, undefined);
  if (!includes) return selected;
  return [...(selected instanceof Table ? selected.values() : selected)].filter(includes);
}

/** The given entities, or all, that `roleFilter` selects: `#attribute`, `@id`, by `roleSemantic` (AllOf by default). */
export function selectListed<K extends EntityKind>(
  { services, query }: ApiRequest<'state'>,
  { kind }: { readonly kind: K },
  entities: readonly EntityTypes[K][] | undefined,
): Iterable<EntityTypes[K]> | Table<EntityTypes[K]> {
  const table: Table<EntityTypes[K]> = services.state.tables[kind];
  const roles = query.getAll('roleFilter');
  if (roles.length === 0 || !KINDS[kind].hasRoleAttributes) return entities ?? table;
  const ids = selectByAttributes(roles.map(checkedRole), checkedSemantic(query.get('roleSemantic') || 'AllOf'), table);
  return entities ? entities.filter(({ id }) => ids.has(id)) : [...ids].flatMap((id) => table.get(id) ?? []);
}

function checkedSemantic(text: string): Semantic {
  if (text === 'AllOf' || text === 'AnyOf') return text;
  throw invalid('roleSemantic', 'roleSemantic in query should be one of [AllOf AnyOf]', text);
}

function checkedRole(role: string): string {
  if (/^[#@]/.test(role)) return role;
  const reason = `'${role}' is neither role attribute (prefixed with #) or an entity id or name (prefixed with @)`;
  throw badRequest(reason);
}

async function change<K extends EntityKind, Detail, B extends object, Uses extends Use, P>(
  resource: Resource<K, Detail, B, Uses, P>,
  request: FullRequest<B>,
  mode: Mode,
): Promise<Done> {
  const { services } = request;
  const body = readBody(request, mode);
  if (resource.isLookedUpFirst) found(request, resource);
  body.requireValue(resource.fixed ?? []);
  const current = found(request, resource);
  const prepared = (await resource.prepare?.(request, current.id, body)) as P;
  await services.state.change((transaction) => {
    resource.update(transaction, found(request, resource, transaction), body, request, prepared);
  });
  return { data: {} };
}

function readBody<B extends object>({ body: given, services }: ApiRequest<'log', B>, mode: Mode): Body<B> {
  const body = new Body(given, mode);
  const [tag, ...others] = body.droppedTags();
  if (tag !== undefined)
    services.log.warn(
      { tag: tag.slice(0, MAX_LOGGED_NAME_LENGTH), total: others.length + 1 },
      'tags that hold lists or maps are dropped, as by the reference; write them as text',
    );
  return body;
}
