// Rules of edge routers: the enrollment that comes with a new one, and the identity and policy of its tunneler.

import type { Body } from '../request/body.ts';
import { invalid } from '../request/errors.ts';
import type { Transaction } from '../state/transaction.ts';
import type { Enrollment, Router, Tags } from '../state/types.ts';
import { baseFields, changedBase, configList, removeFromPolicies, roleAttributes, uniqueName } from './common.ts';
import { removeIdentity, routerIdentity } from './identity.ts';
import { systemRouterPolicy } from './policy.ts';

/** An enrollment that was signed before the transaction: signing waits, transactions do not. */
export interface SignedEnrollment {
  readonly id: string;
  readonly token: string;
  readonly jwt: string;
  readonly expiresAt: string;
}

export function createEdgeRouter(
  transaction: Transaction,
  id: string,
  body: Body,
  enrollment: SignedEnrollment,
): Router {
  const router: Router = {
    ...baseFields(transaction, id, body),
    ...routerFields(transaction, body, undefined),
    fingerprint: null,
    certPem: null,
    isVerified: false,
  };
  transaction.put('router', router);
  addEnrollment(transaction, id, enrollment);
  if (router.isTunnelerEnabled) enableTunneler(transaction, router);
  return router;
}

export function updateEdgeRouter(transaction: Transaction, router: Router, body: Body): void {
  const updated: Router = {
    ...router,
    ...routerFields(transaction, body, router),
    ...changedBase(transaction, router, body),
  };
  transaction.put('router', updated);
  if (updated.isTunnelerEnabled && !router.isTunnelerEnabled) enableTunneler(transaction, updated);
  if (!updated.isTunnelerEnabled && router.isTunnelerEnabled) disableTunneler(transaction, router.id);
  if (updated.isTunnelerEnabled && updated.name !== router.name)
    transaction.patch('identity', router.id, { name: updated.name });
}

export function deleteEdgeRouter(transaction: Transaction, { id }: Router): void {
  for (const enrollment of transaction.tables.enrollment.referring('edgeRouterId', id))
    transaction.delete('enrollment', enrollment.id);
  for (const terminator of transaction.tables.terminator.referring('routerId', id))
    transaction.delete('terminator', terminator.id);
  disableTunneler(transaction, id);
  removeFromPolicies(transaction, id);
  transaction.delete('router', id);
}

/** A new enrollment; what the router had counts no more. */
export function reEnrollEdgeRouter(transaction: Transaction, { id }: Router, enrollment: SignedEnrollment): void {
  for (const old of transaction.tables.enrollment.referring('edgeRouterId', id))
    transaction.delete('enrollment', old.id);
  addEnrollment(transaction, id, enrollment);
  transaction.patch('router', id, { fingerprint: null, certPem: null, isVerified: false });
}

function addEnrollment(transaction: Transaction, edgeRouterId: string, signed: SignedEnrollment): void {
  const enrollment: Enrollment = {
    ...baseFields(transaction, signed.id),
    ...signed,
    method: 'erott',
    identityId: null,
    edgeRouterId,
    username: null,
  };
  transaction.put('enrollment', enrollment);
}

function enableTunneler(transaction: Transaction, router: Router): void {
  const taken = transaction.tables.identity.findBy('name', router.name);
  if (taken && taken.id !== router.id)
    throw invalid('name', `duplicate value '${router.name}' in unique index on identities store`, router.name);
  transaction.put('identity', routerIdentity(transaction, router.id, router.name));
  transaction.put('edgeRouterPolicy', systemRouterPolicy(transaction, router.id));
}

function disableTunneler(transaction: Transaction, routerId: string): void {
  if (transaction.get('identity', routerId)) removeIdentity(transaction, routerId);
  if (transaction.get('edgeRouterPolicy', routerId)) transaction.delete('edgeRouterPolicy', routerId);
}

function routerFields(transaction: Transaction, body: Body, current: Router | undefined) {
  const keep = body.mode === 'patch' ? current : undefined;
  return {
    name: uniqueName(transaction, 'router', body, current),
    cost: body.whole('cost', { from: 0, to: 65_535 }) ?? keep?.cost ?? 0,
    noTraversal: body.flag('noTraversal') ?? keep?.noTraversal ?? false,
    disabled: body.flag('disabled') ?? keep?.disabled ?? false,
    configs: configList(transaction, body, 'router', current?.configs ?? []),
    isTunnelerEnabled: body.flag('isTunnelerEnabled') ?? keep?.isTunnelerEnabled ?? false,
    roleAttributes: roleAttributes(body, current?.roleAttributes ?? []),
    appData: (body.map('appData') as Tags | undefined) ?? keep?.appData ?? {},
  };
}
