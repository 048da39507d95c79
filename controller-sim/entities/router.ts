// Rules of routers. One store holds edge routers and transit routers. A new router gets an enrollment, and an edge
// router with a tunneler also an identity and a policy.

import type {
  EdgeRouterCreate,
  EdgeRouterPatch,
  EdgeRouterUpdate,
  FabricRouterCreate,
  FabricRouterPatch,
  FabricRouterUpdate,
  RouterCreate,
  RouterPatch,
  RouterUpdate,
} from '#schemas/api/gen/bodies.ts';
import { ApiError, badRequest } from '../errors/errors.ts';
import type { Entity } from '../state/entity.ts';
import type { Enrollment } from '../state/kinds/enrollment.ts';
import type { Router } from '../state/kinds/router.ts';
import type { Transaction } from '../state/transaction.ts';
import { type Body, flatMap } from './body.ts';
import { deleteEntity } from './cascade.ts';
import { baseFields, changedBase, configList, requireUnique, roleAttributes, uniqueName } from './common.ts';
import { removeIdentity, routerIdentity } from './identity.ts';
import { systemRouterPolicy } from './policy.ts';
import { rules } from './rules.ts';

export type EdgeRouterBody = EdgeRouterCreate | EdgeRouterUpdate | EdgeRouterPatch;
/** Bodies of the operations on transit routers. */
export type RouterBody = RouterCreate | RouterUpdate | RouterPatch;
export type FabricRouterBody = FabricRouterCreate | FabricRouterUpdate | FabricRouterPatch;

type AnyRouterBody = EdgeRouterBody | RouterBody | FabricRouterBody;

/** An enrollment signed before the transaction: signing is asynchronous, transactions are not. */
export interface SignedEnrollment {
  readonly id: string;
  readonly token: string;
  readonly jwt: string;
  readonly expiresAt: string;
}

export function createEdgeRouter(
  transaction: Transaction,
  id: string,
  body: Body<EdgeRouterBody>,
  enrollment: SignedEnrollment | undefined,
): void {
  const router: Router = { ...newRouter(transaction, id, body), ...edgeFields(body, undefined), isEdge: true };
  transaction.put('router', router);
  if (enrollment) addRouterEnrollment(transaction, id, 'erott', enrollment);
  if (router.isTunnelerEnabled) enableTunneler(transaction, router);
}

/** A transit router. Only without an enrollment it uses the certificate in the body. */
export function createTransitRouter(
  transaction: Transaction,
  id: string,
  body: Body<AnyRouterBody>,
  enrollment: SignedEnrollment | undefined,
): void {
  if (transaction.get('router', id)) {
    throw badRequest(`an entity of type router already exists with id ${id}`);
  }
  const fingerprint = enrollment ? null : uniqueFingerprint(transaction, body, undefined);
  transaction.put('router', { ...newRouter(transaction, id, body), fingerprint, isVerified: enrollment === undefined });
  if (enrollment) addRouterEnrollment(transaction, id, 'trott', enrollment);
}

export function updateEdgeRouter(transaction: Transaction, router: Router, body: Body<EdgeRouterBody>): void {
  const updated: Router = {
    ...router,
    ...routerFields(transaction, body, router),
    ...edgeFields(body, router),
    ...changedBase(transaction, router, body),
  };
  putRouter(transaction, router, updated);
}

/** Throws ApiError for an edge router, which has its own operations. */
export function updateTransitRouter(transaction: Transaction, router: Router, body: Body<RouterBody>): void {
  if (router.isEdge) throw new ApiError('CAN_NOT_UPDATE_ROUTER');
  updateCommonFields(transaction, router, body);
}

function updateCommonFields(transaction: Transaction, router: Router, body: Body<AnyRouterBody>): void {
  putRouter(transaction, router, {
    ...router,
    ...routerFields(transaction, body, router),
    ...changedBase(transaction, router, body),
  });
}

/** Stores a router, and the identity of its tunneler. */
function putRouter(transaction: Transaction, old: Router, updated: Router): void {
  transaction.put('router', updated);
  if (updated.isTunnelerEnabled && !old.isTunnelerEnabled) enableTunneler(transaction, updated);
  if (!updated.isTunnelerEnabled && old.isTunnelerEnabled) disableTunneler(transaction, old.id);
  if (updated.isTunnelerEnabled && updated.name !== old.name) {
    requireUnique(transaction, 'identity', 'name', updated.name, updated);
    transaction.patch('identity', old.id, { name: updated.name });
  }
}

/** Through the fabric API, which updates all routers and knows their certificates. */
export function updateFabricRouter(transaction: Transaction, router: Router, body: Body<FabricRouterBody>): void {
  updateCommonFields(transaction, router, body);
  if ((body.given.fingerprint ?? undefined) === undefined) return;
  const fingerprint = uniqueFingerprint(transaction, body, router);
  transaction.patch('router', router.id, { fingerprint, isVerified: true });
}

/** Routers are found by their fingerprints: a second router with the same one would hide the first. */
function uniqueFingerprint(
  transaction: Transaction,
  body: Body<FabricRouterBody>,
  current: Router | undefined,
): string | null {
  const fingerprint = body.given.fingerprint ?? null;
  if (fingerprint) requireUnique(transaction, 'router', 'fingerprint', fingerprint, current);
  return fingerprint;
}

export function deleteRouter(transaction: Transaction, { id }: Router): void {
  disableTunneler(transaction, id);
  deleteEntity(transaction, 'router', id);
}

export const edgeRouterRules = rules('router', {
  create: createEdgeRouter,
  update: updateEdgeRouter,
  remove: deleteRouter,
});
export const transitRouterRules = rules('router', {
  create: createTransitRouter,
  update: updateTransitRouter,
  remove: deleteRouter,
});

/** Replaces the enrollment and invalidates the router's certificate. */
export function reEnrollEdgeRouter(transaction: Transaction, { id }: Router, enrollment: SignedEnrollment): void {
  for (const old of transaction.tables.enrollment.referring('routerId', id)) transaction.delete('enrollment', old.id);
  addRouterEnrollment(transaction, id, 'erott', enrollment);
  transaction.patch('router', id, {
    fingerprint: null,
    certPem: null,
    unverifiedCertPem: null,
    isVerified: false,
  });
}

function addRouterEnrollment(
  transaction: Transaction,
  routerId: string,
  method: 'erott' | 'trott',
  signed: SignedEnrollment,
): void {
  const enrollment: Enrollment = {
    ...baseFields(transaction, signed.id),
    ...signed,
    method,
    identityId: null,
    caId: null,
    routerId,
    username: null,
  };
  transaction.put('enrollment', enrollment);
}

function enableTunneler(transaction: Transaction, router: Router): void {
  requireUnique(transaction, 'identity', 'name', router.name, router);
  transaction.put('identity', routerIdentity(transaction, router.id, router.name));
  transaction.put('edgeRouterPolicy', systemRouterPolicy(transaction, router.id));
}

function disableTunneler(transaction: Transaction, routerId: string): void {
  if (transaction.get('identity', routerId)?.type === 'Router') removeIdentity(transaction, routerId);
  // A fabric administrator may have chosen an id that a policy of another user has, too.
  if (transaction.get('edgeRouterPolicy', routerId)?.isSystem) transaction.delete('edgeRouterPolicy', routerId);
}

function newRouter(transaction: Transaction, id: string, body: Body<AnyRouterBody>): Router {
  return {
    ...baseFields(transaction, id, body),
    ...routerFields(transaction, body, undefined),
    isEdge: false,
    isTunnelerEnabled: false,
    roleAttributes: [],
    appData: {},
    fingerprint: null,
    certPem: null,
    isVerified: false,
  };
}

function routerFields(transaction: Transaction, body: Body<AnyRouterBody>, current: Router | undefined) {
  const keep = body.kept(current);
  const { given } = body;
  return {
    name: uniqueName(transaction, 'router', body, current),
    cost: given.cost ?? keep?.cost ?? 0,
    noTraversal: given.noTraversal ?? keep?.noTraversal ?? false,
    disabled: given.disabled ?? keep?.disabled ?? false,
    configs: configList(transaction, body, 'router', current?.configs ?? []),
    ctrlChanListeners: given.ctrlChanListeners ?? keep?.ctrlChanListeners ?? null,
  } satisfies Omit<Partial<Router>, keyof Entity>;
}

function edgeFields(body: Body<EdgeRouterBody>, current: Router | undefined) {
  const keep = body.kept(current);
  const { given } = body;
  return {
    isTunnelerEnabled: given.isTunnelerEnabled ?? keep?.isTunnelerEnabled ?? false,
    roleAttributes: roleAttributes(body, current?.roleAttributes ?? []),
    appData: flatMap('appData', given.appData) ?? keep?.appData ?? {},
  };
}
