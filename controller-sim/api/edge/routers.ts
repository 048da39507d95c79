// Edge routers, and the transit routers of the fabric.

import { leafOf, sha1Fingerprint } from '#pki/certificates.ts';
import type { CommonEdgeRouterProperties, EdgeRouterDetail, RouterDetail } from '#schemas/api/gen/answers.ts';
import type { Body } from '../../entities/body.ts';
import { existing } from '../../entities/common.ts';
import { signEnrollment } from '../../entities/enrollment.ts';
import {
  type EdgeRouterBody,
  edgeRouterRules,
  type RouterBody,
  reEnrollEdgeRouter,
  type SignedEnrollment,
  transitRouterRules,
} from '../../entities/router.ts';
import { notFound } from '../../errors/errors.ts';
import type { Symbols } from '../../filter/compile.ts';
import { capabilityMask, capabilityNames } from '../../network/router-capabilities.ts';
import type { Router } from '../../state/kinds/router.ts';
import { showInterfaces } from '../answers/interfaces.ts';
import { base } from '../answers/references.ts';
import { largeNumber, NEVER, nullWhenEmpty } from '../answers/show.ts';
import type { ApiRequest, ApiServices, Done, EnrollmentUse, Handlers } from '../operations/context.ts';
import { field, fieldSet, flagField, linked, numberField } from '../operations/list.ts';
import { create, detail, find, list, patch, type Resource, remove, update } from '../operations/resource.ts';
import { seesEnrollmentTokens } from '../operations/rights.ts';
import { CONFIG_SYMBOLS } from './configs.ts';

export const routerSymbols = (context: Pick<ApiServices, 'state'>): Symbols<Router> => ({
  name: field('name'),
  fingerprint: field('fingerprint'),
  cost: numberField('cost'),
  noTraversal: flagField('noTraversal'),
  disabled: flagField('disabled'),
  configs: linked(fieldSet('configs'), context.state.tables.config, () => CONFIG_SYMBOLS),
  ctrlChanListeners: { set: ({ ctrlChanListeners }: Router) => Object.keys(ctrlChanListeners ?? {}) },
});

export const edgeRouterSymbols = (context: Pick<ApiServices, 'state' | 'network'>): Symbols<Router> => ({
  ...routerSymbols(context),
  isVerified: flagField('isVerified'),
  isTunnelerEnabled: flagField('isTunnelerEnabled'),
  roleAttributes: fieldSet('roleAttributes'),
  connected: { type: 'bool', get: ({ id }) => context.network.status(id).isOnline },
  online: { type: 'bool', get: ({ id }) => context.network.status(id).isOnline },
});

/** For a router that has not reported its version. */
const NO_VERSION = { arch: '', buildDate: '', os: '', revision: '', version: '' };

export const edgeRouters: Resource<
  'router',
  EdgeRouterDetail,
  EdgeRouterBody,
  'network' | EnrollmentUse,
  SignedEnrollment | undefined
> = {
  ...edgeRouterRules,
  symbols: edgeRouterSymbols,
  includes: ({ isEdge }) => isEdge,
  newId: ({ state }) => state.ids.short(),
  prepare: (request, id, body) => newEnrollment(request, 'erott', id, body),
  show: (router, context, request): EdgeRouterDetail => {
    const { appData, certPem, isTunnelerEnabled, roleAttributes } = router;
    return {
      ...base('router', router),
      ...commonRouter(router, context),
      ...routerFields(router, request, 'erott'),
      appData,
      certPem,
      isTunnelerEnabled,
      roleAttributes: nullWhenEmpty(roleAttributes),
      ...capabilityFields(router),
      versionInfo: context.network.status(router.id).versionInfo ?? NO_VERSION,
    };
  },
};

/** reference fact: a mask of zero is omitted. */
function capabilityFields({ capabilities }: Router): Pick<EdgeRouterDetail, 'capabilitiesMask'> {
  const mask = capabilityMask(capabilities);
  return mask === 0n ? {} : { capabilitiesMask: largeNumber(mask) };
}

/** Only new routers need an enrollment. */
async function newEnrollment(
  { services }: ApiRequest<EnrollmentUse>,
  method: 'erott' | 'trott',
  id: string,
  { mode }: Body<EdgeRouterBody | RouterBody>,
): Promise<SignedEnrollment | undefined> {
  return mode === 'create' ? signEnrollment(services, method, id) : undefined;
}

/** Fields that both APIs answer for an edge router. */
export function commonRouter(router: Router, context: Pick<ApiServices, 'network'>): CommonEdgeRouterProperties {
  const { name, cost, noTraversal, appData, disabled } = router;
  const { isOnline, hostname, supportedProtocols, syncStatus } = context.network.status(router.id);
  return {
    name,
    cost,
    noTraversal,
    appData,
    disabled,
    isOnline,
    hostname,
    supportedProtocols,
    syncStatus,
    capabilities: capabilityNames(router.capabilities),
  };
}

/** Includes enrollments of one method: only the list of edge routers includes those of edge routers. */
function routerFields(router: Router, request: ApiRequest<'state'>, method: 'erott' | 'trott') {
  const { state } = request.services;
  const { configs, ctrlChanListeners, fingerprint, isEdge, isVerified, unverifiedCertPem } = router;
  const enrollment = state.tables.enrollment.referring('routerId', router.id).find((each) => each.method === method);
  return {
    configs: nullWhenEmpty(configs),
    ...(Object.keys(ctrlChanListeners ?? {}).length > 0 && { ctrlChanListeners }),
    ...(fingerprint !== null && { fingerprint }),
    // reference fact: among all routers, those of the edge count as verified, as only others enroll there.
    isVerified: isVerified || (isEdge && method === 'trott'),
    // reference fact: the list of all routers does not have them.
    interfaces: method === 'erott' ? showInterfaces(router.interfaces) : null,
    unverifiedCertPem: unverifiedCertPem ?? null,
    unverifiedFingerprint: unverifiedCertPem ? sha1Fingerprint(leafOf(unverifiedCertPem)) : null,
    ...(enrollment && {
      ...(seesEnrollmentTokens(request, enrollment) && {
        enrollmentToken: enrollment.token,
        enrollmentJwt: enrollment.jwt,
      }),
      enrollmentCreatedAt: method === 'erott' ? NEVER : enrollment.createdAt,
      enrollmentExpiresAt: enrollment.expiresAt,
    }),
  };
}

export const transitRouters: Resource<
  'router',
  RouterDetail,
  RouterBody,
  'network' | EnrollmentUse,
  SignedEnrollment | undefined
> = {
  ...transitRouterRules,
  plural: 'transit-routers',
  symbols: routerSymbols,
  newId: ({ state }) => state.ids.short(),
  prepare: (request, id, body) => newEnrollment(request, 'trott', id, body),
  isLookedUpFirst: true,
  show: (router, context, request): RouterDetail => ({
    ...base('router', router, 'transit-routers'),
    name: router.name,
    cost: router.cost,
    noTraversal: router.noTraversal,
    disabled: router.disabled,
    isOnline: context.network.status(router.id).isOnline,
    ...routerFields(router, request, 'trott'),
    fingerprint: router.fingerprint,
  }),
};

export const routerHandlers = {
  listEdgeRouters: list(edgeRouters),
  createEdgeRouter: create(edgeRouters),
  detailEdgeRouter: detail(edgeRouters),
  updateEdgeRouter: update(edgeRouters),
  patchEdgeRouter: patch(edgeRouters),
  deleteEdgeRouter: remove(edgeRouters),
  listTransitRouters: list(transitRouters),
  createTransitRouter: create(transitRouters),
  detailTransitRouter: detail(transitRouters),
  updateTransitRouter: update(transitRouters),
  patchTransitRouter: patch(transitRouters),
  deleteTransitRouter: remove(transitRouters),
  listRouters: list(transitRouters),
  createRouter: create(transitRouters),
  detailRouter: detail(transitRouters),
  updateRouter: update(transitRouters),
  patchRouter: patch(transitRouters),
  deleteRouter: remove(transitRouters),
  reEnrollEdgeRouter: reEnroll,
} satisfies Partial<Handlers<'management'>>;

async function reEnroll(request: ApiRequest<EnrollmentUse>): Promise<Done> {
  const router = find(request, 'router');
  if (!router.isEdge) throw notFound('router', router.id);
  const enrollment = await signEnrollment(request.services, 'erott', router.id);
  await request.services.state.change((transaction) =>
    reEnrollEdgeRouter(transaction, existing(transaction, 'router', router.id), enrollment),
  );
  return { data: {} };
}
