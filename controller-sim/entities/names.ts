// The names of the kinds of entities in paths, events and messages.

import type { EntityKind } from '../state/types.ts';

/** Singular names in messages, where they differ from the kind. */
export const SINGULAR: Partial<Readonly<Record<EntityKind, string>>> = { mfa: 'MFA enrollment' };

/** Path segment in the APIs. */
export const PLURAL: Readonly<Record<EntityKind, string>> = {
  apiSession: 'api-sessions',
  apiSessionCertificate: 'current-api-session/certificates',
  authenticator: 'authenticators',
  authPolicy: 'auth-policies',
  ca: 'cas',
  config: 'configs',
  configType: 'config-types',
  router: 'edge-routers',
  edgeRouterPolicy: 'edge-router-policies',
  enrollment: 'enrollments',
  externalJwtSigner: 'external-jwt-signers',
  identity: 'identities',
  mfa: 'mfas',
  postureCheck: 'posture-checks',
  revocation: 'revocations',
  service: 'services',
  serviceEdgeRouterPolicy: 'service-edge-router-policies',
  servicePolicy: 'service-policies',
  session: 'sessions',
  terminator: 'terminators',
};

/** The reference's names of its stores: the types of entities in events. */
export const STORE: Readonly<Record<EntityKind, string>> = {
  apiSession: 'apiSessions',
  apiSessionCertificate: 'apiSessionCertificates',
  authenticator: 'authenticators',
  authPolicy: 'authPolicies',
  ca: 'cas',
  config: 'configs',
  configType: 'configTypes',
  router: 'routers',
  edgeRouterPolicy: 'edgeRouterPolicies',
  enrollment: 'enrollments',
  externalJwtSigner: 'externalJwtSigners',
  identity: 'identities',
  mfa: 'mfas',
  postureCheck: 'postureChecks',
  revocation: 'revocations',
  service: 'services',
  serviceEdgeRouterPolicy: 'serviceEdgeRouterPolicies',
  servicePolicy: 'servicePolicies',
  session: 'sessions',
  terminator: 'terminators',
};
