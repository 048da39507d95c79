// The entities that the simulator keeps, as they are stored. What an API sends of them is made in api/.

import type { TypedDemands } from '#model/posture.ts';

export type EntityKind =
  | 'apiSession'
  | 'apiSessionCertificate'
  | 'authenticator'
  | 'authPolicy'
  | 'ca'
  | 'config'
  | 'configType'
  | 'edgeRouterPolicy'
  | 'enrollment'
  | 'externalJwtSigner'
  | 'identity'
  | 'mfa'
  | 'postureCheck'
  | 'revocation'
  | 'router'
  | 'service'
  | 'serviceEdgeRouterPolicy'
  | 'servicePolicy'
  | 'session'
  | 'terminator';

export type Tags = Readonly<Record<string, unknown>>;
export type Precedence = 'default' | 'required' | 'failed';
export type Semantic = 'AllOf' | 'AnyOf';

export interface Entity {
  readonly id: string;
  /** RFC 3339 with milliseconds. */
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly tags: Tags;
  readonly isSystem: boolean;
}

export interface Named extends Entity {
  readonly name: string;
}

export interface Identity extends Named {
  readonly type: 'Default' | 'Router';
  readonly isAdmin: boolean;
  readonly isDefaultAdmin: boolean;
  readonly externalId: string | null;
  readonly authPolicyId: string;
  readonly roleAttributes: readonly string[];
  readonly permissions: readonly string[] | null;
  readonly defaultHostingCost: number;
  readonly defaultHostingPrecedence: Precedence;
  readonly serviceHostingCosts: Readonly<Record<string, number>>;
  readonly serviceHostingPrecedences: Readonly<Record<string, Precedence>>;
  readonly appData: Tags;
  /** Service id to config ids, one per type. */
  readonly serviceConfigs: Readonly<Record<string, readonly string[]>>;
  readonly disabled: boolean;
  readonly disabledAt: string | null;
  readonly disabledUntil: string | null;
  /** What its client said of itself when it last logged in. */
  readonly envInfo: Readonly<Record<string, string>>;
  readonly sdkInfo: Readonly<Record<string, string>>;
}

export interface Authenticator extends Entity {
  readonly method: 'updb' | 'cert';
  readonly identityId: string;
  readonly username: string | null;
  /** Argon2id hash in its text form; never leaves the process. */
  readonly passwordHash: string | null;
  readonly certPem: string | null;
  readonly fingerprint: string | null;
  readonly isIssuedByNetwork: boolean;
  /** The other authority that vouched for the certificate when it came; older data does not say. */
  readonly caId?: string | null;
  /** An administrator wants the certificate to be renewed, and perhaps with another key. */
  readonly isExtendRequested: boolean;
  readonly isKeyRollRequested: boolean;
  readonly extendRequestedAt: string | null;
  readonly lastExtendRolledKeys: boolean;
  readonly lastAuthResolvedToRoot: boolean;
  /** A new certificate that was handed out and not yet shown by its owner. */
  readonly unverifiedCertPem: string | null;
}

export interface Enrollment extends Entity {
  readonly method: 'ott' | 'ottca' | 'updb' | 'erott' | 'trott';
  readonly token: string;
  readonly jwt: string;
  readonly expiresAt: string;
  readonly identityId: string | null;
  /** Of erott and trott. */
  readonly routerId: string | null;
  readonly caId: string | null;
  readonly username: string | null;
}

export interface ConfigType extends Named {
  readonly schema: Readonly<Record<string, unknown>> | null;
  readonly target: 'service' | 'router' | 'other';
}

export interface Config extends Named {
  readonly configTypeId: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface Service extends Named {
  readonly encryptionRequired: boolean;
  readonly terminatorStrategy: string;
  readonly maxIdleTimeMillis: number;
  readonly configs: readonly string[];
  readonly roleAttributes: readonly string[];
  /** Made through the fabric API: the edge APIs and their policies do not know it. */
  readonly isFabricOnly: boolean;
}

/** Every router of the network. Those that are not of the edge carry circuits, and no SDK or policy knows them. */
export interface Router extends Named {
  readonly isEdge: boolean;
  /** Address to groups. */
  readonly ctrlChanListeners: Readonly<Record<string, readonly string[]>> | null;
  readonly cost: number;
  readonly noTraversal: boolean;
  readonly disabled: boolean;
  readonly configs: readonly string[];
  readonly isTunnelerEnabled: boolean;
  readonly roleAttributes: readonly string[];
  readonly appData: Tags;
  readonly fingerprint: string | null;
  readonly certPem: string | null;
  readonly isVerified: boolean;
}

export interface Terminator extends Entity {
  readonly serviceId: string;
  readonly routerId: string;
  readonly binding: string;
  readonly address: string;
  readonly cost: number;
  readonly precedence: Precedence;
  /** The precedence from before the router was quiesced. */
  readonly savedPrecedence?: Precedence | undefined;
  /** Called identity in the management API. */
  readonly instanceId: string;
  readonly instanceSecret: string;
  readonly hostId: string;
  /** Peer data of the host: key to base64. */
  readonly peerData: Readonly<Record<string, string>>;
}

interface Policy extends Named {
  readonly semantic: Semantic;
}

export interface ServicePolicy extends Policy {
  readonly type: 'Dial' | 'Bind';
  readonly identityRoles: readonly string[];
  readonly serviceRoles: readonly string[];
  readonly postureCheckRoles: readonly string[];
}

export interface EdgeRouterPolicy extends Policy {
  readonly edgeRouterRoles: readonly string[];
  readonly identityRoles: readonly string[];
}

export interface ServiceEdgeRouterPolicy extends Policy {
  readonly edgeRouterRoles: readonly string[];
  readonly serviceRoles: readonly string[];
}

export interface AuthPolicy extends Named {
  readonly primary: {
    readonly cert: { readonly allowed: boolean; readonly allowExpiredCerts: boolean };
    readonly extJwt: { readonly allowed: boolean; readonly allowedSigners: readonly string[] };
    readonly updb: {
      readonly allowed: boolean;
      readonly minPasswordLength: number;
      readonly maxAttempts: number;
      readonly lockoutDurationMinutes: number;
      readonly requireMixedCase: boolean;
      readonly requireNumberChar: boolean;
      readonly requireSpecialChar: boolean;
    };
  };
  readonly secondary: { readonly requireTotp: boolean; readonly requireExtJwtSigner: string | null };
}

/** Which part of a certificate names an identity from elsewhere. */
export interface ExternalIdClaim {
  readonly location: 'COMMON_NAME' | 'SAN_URI' | 'SAN_EMAIL';
  readonly matcher: 'ALL' | 'PREFIX' | 'SUFFIX' | 'SCHEME';
  readonly matcherCriteria: string;
  readonly parser: 'NONE' | 'SPLIT';
  readonly parserCriteria: string;
  readonly index: number;
}

/** An authority or issuer outside the network that proves who a client is. */
export interface Vouching extends Named {
  /** False for those that a caller without full rights made: they prove nothing of administrators. Older data does not say. */
  readonly vouchesForAdmins?: boolean;
}

/** Somebody else's authority whose certificates identities may enroll and log in with. */
export interface CertificateAuthority extends Vouching {
  readonly certPem: string;
  readonly fingerprint: string;
  readonly isVerified: boolean;
  readonly verificationToken: string;
  readonly isAuthEnabled: boolean;
  readonly isAutoCaEnrollmentEnabled: boolean;
  readonly isOttCaEnrollmentEnabled: boolean;
  readonly identityRoles: readonly string[];
  readonly identityNameFormat: string;
  readonly externalIdClaim: ExternalIdClaim | null;
}

export interface ExternalJwtSigner extends Vouching {
  readonly issuer: string;
  readonly audience: string;
  readonly enabled: boolean;
  /** Where its keys are found; either this or a certificate. */
  readonly jwksEndpoint: string | null;
  readonly certPem: string | null;
  readonly fingerprint: string | null;
  readonly commonName: string;
  readonly notBefore: string;
  readonly notAfter: string;
  readonly kid: string | null;
  readonly claimsProperty: string;
  readonly useExternalId: boolean;
  readonly externalAuthUrl: string | null;
  readonly clientId: string | null;
  readonly scopes: readonly string[];
  readonly targetToken: 'ACCESS' | 'ID';
  readonly enrollToCertEnabled: boolean;
  readonly enrollToTokenEnabled: boolean;
  readonly enrollAuthPolicyId: string;
  readonly enrollNameClaimsSelector: string;
  readonly enrollAttributeClaimsSelector: string;
}

interface PostureCheckBase extends Named {
  readonly roleAttributes: readonly string[];
  /** Counts its changes. */
  readonly version: number;
}

export type PostureCheck = PostureCheckBase & TypedDemands;

/** Time-based one-time passwords of an identity. */
/** The use of a one-time password. */
export interface UsedStep {
  /** Periods of the clock since the epoch. */
  readonly step: number;
  /** `login`, or the id of the session that has a token for it. */
  readonly by: string;
}

export interface Mfa extends Entity {
  readonly identityId: string;
  readonly isVerified: boolean;
  /** Base32; never leaves the process but in the provisioning URL of its owner. */
  readonly secret: string;
  readonly recoveryCodes: readonly string[];
  /** One-time passwords that were used and would still be accepted. Older data has none. */
  readonly usedSteps?: readonly UsedStep[];
}

/** Tokens that count no more though they are still valid by time. */
export interface Revocation extends Entity {
  readonly type: 'JTI' | 'IDENTITY' | 'API_SESSION';
  readonly expiresAt: string;
}

export interface ApiSession extends Entity {
  readonly token: string;
  readonly identityId: string;
  /** Empty when a token of another issuer was the proof. */
  readonly authenticatorId: string;
  /** Ids of config types, or `all`. */
  readonly configTypes: readonly string[];
  readonly ipAddress: string;
  readonly lastActivityAt: string;
  /** Fingerprints of the certificates that the session is bound to. */
  readonly fingerprints: readonly string[];
  /** A one-time password is owed, and has been given. */
  readonly isMfaRequired: boolean;
  readonly isMfaComplete: boolean;
  /** Signer whose token has to be shown beside this session; null when none. */
  readonly requiredSignerId: string | null;
  /** Logged in with a certificate of this network. */
  readonly isCertExtendable: boolean;
  readonly improperClientCertChain: boolean;
}

/** A certificate that a client made for the time of its API session. */
export interface ApiSessionCertificate extends Entity {
  readonly apiSessionId: string;
  readonly certPem: string;
  readonly fingerprint: string;
  readonly subject: string;
  readonly validFrom: string;
  readonly validTo: string;
}

export interface Session extends Entity {
  readonly token: string;
  readonly apiSessionId: string;
  readonly identityId: string;
  readonly serviceId: string;
  readonly type: 'Dial' | 'Bind';
}

/** Which type belongs to which kind. */
export interface EntityTypes {
  apiSession: ApiSession;
  apiSessionCertificate: ApiSessionCertificate;
  authenticator: Authenticator;
  authPolicy: AuthPolicy;
  ca: CertificateAuthority;
  config: Config;
  configType: ConfigType;
  edgeRouterPolicy: EdgeRouterPolicy;
  enrollment: Enrollment;
  externalJwtSigner: ExternalJwtSigner;
  identity: Identity;
  mfa: Mfa;
  postureCheck: PostureCheck;
  revocation: Revocation;
  router: Router;
  service: Service;
  serviceEdgeRouterPolicy: ServiceEdgeRouterPolicy;
  servicePolicy: ServicePolicy;
  session: Session;
  terminator: Terminator;
}
