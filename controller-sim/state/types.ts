// The types of stored entities. api/ converts them to answers.

export type { Entity, Named, PermissionType, Precedence, Tags, Vouching } from './entity.ts';
export type { ApiSession } from './kinds/api-session.ts';
export type { ApiSessionCertificate } from './kinds/api-session-certificate.ts';
export type { AuthPolicy } from './kinds/auth-policy.ts';
export type { Authenticator } from './kinds/authenticator.ts';
export type { CertificateAuthority, ExternalIdClaim } from './kinds/ca.ts';
export type { Config } from './kinds/config.ts';
export type { ConfigType } from './kinds/config-type.ts';
export type { EdgeRouterPolicy } from './kinds/edge-router-policy.ts';
export type { Enrollment } from './kinds/enrollment.ts';
export type { ExternalJwtSigner } from './kinds/external-jwt-signer.ts';
export type { Identity } from './kinds/identity.ts';
export type { Mfa, UsedStep } from './kinds/mfa.ts';
export type { PostureCheck } from './kinds/posture-check.ts';
export type { Revocation } from './kinds/revocation.ts';
export type { NetworkInterface, Router } from './kinds/router.ts';
export type { Service } from './kinds/service.ts';
export type { ServiceEdgeRouterPolicy } from './kinds/service-edge-router-policy.ts';
export type { ServicePolicy } from './kinds/service-policy.ts';
export type { Session } from './kinds/session.ts';
export type { Terminator } from './kinds/terminator.ts';
export type { EntityKind, EntityTypes } from './kinds.ts';
