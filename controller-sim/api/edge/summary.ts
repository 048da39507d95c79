// Counts the entities of each kind.

import type { Answer, ApiRequest, Handlers } from '../http/context.ts';
import { IDENTITY_TYPES, POSTURE_CHECK_TYPES } from './types.ts';

export const summaryHandlers: Handlers = { listSummary: summary };

function summary({ services: { state, cluster, isClusterMember } }: ApiRequest): Answer {
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
