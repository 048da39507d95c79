// Counts the entities of each kind.

import type { ListSummaryCounts } from '#schemas/api/gen/answers.ts';
import type { ApiRequest, Data, Handlers } from '../http/context.ts';
import { IDENTITY_TYPES, POSTURE_CHECK_TYPES } from './types.ts';

export const summaryHandlers = { listSummary: summary } satisfies Partial<Handlers<'management'>>;

function summary({ services: { state, cluster, isClusterMember } }: ApiRequest): Data<ListSummaryCounts> {
  const { tables } = state;
  const edge = [...tables.router.values()].filter(({ isEdge }) => isEdge).length;
  return {
    data: {
      apiSessionCertificates: tables.apiSessionCertificate.size,
      apiSessions: tables.apiSession.size,
      authPolicies: tables.authPolicy.size,
      authenticators: tables.authenticator.size,
      cas: tables.ca.size,
      configTypes: tables.configType.size,
      configs: tables.config.size,
      controllers: isClusterMember ? cluster.membership.members.length : 0,
      edgeRouterPolicies: tables.edgeRouterPolicy.size,
      enrollments: tables.enrollment.size,
      eventualEvents: 0,
      externalJwtSigners: tables.externalJwtSigner.size,
      identities: tables.identity.size,
      identityTypes: IDENTITY_TYPES.length,
      mfas: tables.mfa.size,
      postureCheckTypes: POSTURE_CHECK_TYPES.length,
      postureChecks: tables.postureCheck.size,
      revocations: tables.revocation.size,
      routers: tables.router.size,
      'routers.edge': edge,
      serviceEdgeRouterPolicies: tables.serviceEdgeRouterPolicy.size,
      servicePolicies: tables.servicePolicy.size,
      services: tables.service.size,
      sessions: tables.session.size,
      terminators: tables.terminator.size,
    },
  };
}
