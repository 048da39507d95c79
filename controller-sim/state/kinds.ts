// The kinds of entities. A new kind is one file in kinds/ and one line here: tables, integrity checks, cascades,
// snapshots, counts, links and the types of stored entities are derived from this list.

import type { Entity } from './entity.ts';
import type { Kind, Side, Stores } from './kind.ts';
import { apiSession } from './kinds/api-session.ts';
import { apiSessionCertificate } from './kinds/api-session-certificate.ts';
import { authPolicy } from './kinds/auth-policy.ts';
import { authenticator } from './kinds/authenticator.ts';
import { ca } from './kinds/ca.ts';
import { config } from './kinds/config.ts';
import { configType } from './kinds/config-type.ts';
import { edgeRouterPolicy } from './kinds/edge-router-policy.ts';
import { enrollment } from './kinds/enrollment.ts';
import { externalJwtSigner } from './kinds/external-jwt-signer.ts';
import { identity } from './kinds/identity.ts';
import { mfa } from './kinds/mfa.ts';
import { postureCheck } from './kinds/posture-check.ts';
import { revocation } from './kinds/revocation.ts';
import { router } from './kinds/router.ts';
import { service } from './kinds/service.ts';
import { serviceEdgeRouterPolicy } from './kinds/service-edge-router-policy.ts';
import { servicePolicy } from './kinds/service-policy.ts';
import { session } from './kinds/session.ts';
import { terminator } from './kinds/terminator.ts';

/** Each after the kinds to which it refers, as far as possible: in this order a snapshot restores them. */
const LIST = {
  authPolicy,
  ca,
  externalJwtSigner,
  configType,
  config,
  identity,
  authenticator,
  enrollment,
  mfa,
  service,
  router,
  postureCheck,
  edgeRouterPolicy,
  serviceEdgeRouterPolicy,
  servicePolicy,
  terminator,
  apiSession,
  apiSessionCertificate,
  session,
  revocation,
};

export type EntityKind = keyof typeof LIST;

type List = typeof LIST;
type Types = { [K in EntityKind]: List[K] extends Stores<infer T> ? T : never };

/** The type of the stored entities of each kind. */
export interface EntityTypes extends Types {}

/** The same list for code that handles any kind. It does not compile if a reference names no kind of the list. */
export const KINDS: Readonly<Record<EntityKind, Kind<Entity, EntityKind, string>>> = LIST;

type ReferenceOf<K extends EntityKind> = NonNullable<List[K]['refers']>[number];
type FieldOf<R> = R extends { readonly form: 'selectors'; readonly key: infer F } ? F : never;
type Sides<K extends EntityKind> = Extract<ReferenceOf<K>, { readonly side: Side }>;

/** The kinds of policies: each joins the entities of two kinds. */
export type PolicyKind = { [K in EntityKind]: [Sides<K>] extends [never] ? never : K }[EntityKind];
/** The kinds that policies join. */
export type MemberKind = Sides<PolicyKind>['to'];
/** The fields of a policy with selectors. */
export type RoleField<K extends PolicyKind> = FieldOf<ReferenceOf<K>> & keyof EntityTypes[K];
/** The kinds whose entities have role attributes. */
export type RoleKind = {
  [K in EntityKind]: true extends List[K]['hasRoleAttributes'] ? K : never;
}[EntityKind];

/** In the order of the list. */
export const KIND_NAMES = Object.keys(LIST) as readonly EntityKind[];

export function isPolicyKind(kind: EntityKind): kind is PolicyKind {
  return KINDS[kind].refers?.some(({ side }) => side) ?? false;
}

export function hasRoleAttributes(kind: EntityKind): kind is RoleKind {
  return KINDS[kind].hasRoleAttributes === true;
}

/** Whether policies may select the entity. */
export function isSelectable(kind: EntityKind, entity: Entity | undefined): entity is Entity {
  return entity !== undefined && (KINDS[kind].isSelectable?.(entity) ?? true);
}

/** The name of a kind in sentences: `postureCheck` is a posture check. */
export function inWords(kind: EntityKind): string {
  return KINDS[kind].words ?? kind.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

/** The name of a kind in messages of the APIs. */
export function nameOf(kind: EntityKind): string {
  return KINDS[kind].singular ?? kind;
}
