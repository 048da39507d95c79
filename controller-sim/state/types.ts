// The simulator's entities as they are stored. api/ converts them to answers.

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
export type PermissionType = 'Dial' | 'Bind';

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
  /** The client's description of itself at the last login. */
  readonly envInfo: Readonly<Record<string, string>>;
  readonly sdkInfo: Readonly<Record<string, string>>;
}

export interface Authenticator extends Entity {
  readonly method: 'updb' | 'cert';
  readonly identityId: string;
  readonly username: string | null;
  /** Argon2id hash in text form; never leaves the process. */
  readonly passwordHash: string | null;
  readonly certPem: string | null;
  readonly fingerprint: string | null;
  readonly isIssuedByNetwork: boolean;
  /** The third-party authority that vouched for the certificate when it was added; missing in older data. */
  readonly caId?: string | null;
  /** An administrator requested a renewal of the certificate, optionally with a new key. */
  readonly isExtendRequested: boolean;
  readonly isKeyRollRequested: boolean;
  readonly extendRequestedAt: string | null;
  readonly lastExtendRolledKeys: boolean;
  readonly lastAuthResolvedToRoot: boolean;
  /** A new certificate that was issued and that its owner has not yet presented. */
  readonly unverifiedCertPem: string | null;
}

export interface Enrollment extends Entity {
  readonly method: 'ott' | 'ottca' | 'updb' | 'erott' | 'trott';
  readonly token: string;
  readonly jwt: string;
  readonly expiresAt: string;
  readonly identityId: string | null;
  /** Only for the methods erott and trott. */
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
  /** Created through the fabric API: the edge APIs and their policies ignore it. */
  readonly isFabricOnly: boolean;
}

/** Every router of the network. Transit routers only carry circuits; SDKs and policies ignore them. */
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
  /** Renewed client certificate that the router has not yet confirmed, in PEM. */
  readonly unverifiedCertPem?: string | null;
  /** Bits of RouterCapability that it reported when it last connected; undefined before. */
  readonly capabilities?: readonly number[];
  /** As it last reported them. */
  readonly interfaces?: readonly NetworkInterface[];
}

/** A network interface of a router's machine. */
export interface NetworkInterface {
  readonly name: string;
  readonly hardwareAddress: string;
  readonly mtu: number;
  readonly index: number;
  /** Bits of InterfaceFlag. */
  readonly flags: number;
  /** In CIDR notation. */
  readonly addresses: readonly string[];
}

export interface Terminator extends Entity {
  readonly serviceId: string;
  readonly routerId: string;
  readonly binding: string;
  readonly address: string;
  readonly cost: number;
  readonly precedence: Precedence;
  /** The precedence before the router was quiesced. */
  readonly savedPrecedence?: Precedence | undefined;
  /** The management API calls it identity. */
  readonly instanceId: string;
  readonly instanceSecret: string;
  readonly hostId: string;
  /** Peer data of the host: keys and values in base64. Older data files have it as an object. */
  readonly peerData: readonly (readonly [key: number, value: string])[] | Readonly<Record<string, string>>;
}

interface Policy extends Named {
  readonly semantic: Semantic;
}

export interface ServicePolicy extends Policy {
  readonly type: PermissionType;
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

/** The part of a certificate that identifies an external identity. */
export interface ExternalIdClaim {
  readonly location: 'COMMON_NAME' | 'SAN_URI' | 'SAN_EMAIL';
  readonly matcher: 'ALL' | 'PREFIX' | 'SUFFIX' | 'SCHEME';
  readonly matcherCriteria: string;
  readonly parser: 'NONE' | 'SPLIT';
  readonly parserCriteria: string;
  readonly index: number;
}

/** An authority or issuer outside of the network that vouches for clients. */
export interface Vouching extends Named {
  /**
   * False if a caller without full rights changed it last: it then cannot vouch for administrators. Missing in older
   * data.
   */
  readonly vouchesForAdmins?: boolean;
}

/** A third-party authority whose certificates identities may enroll and log in with. */
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
  /** Address of its keys; the alternative is a certificate. */
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
  /** Incremented by each change. */
  readonly version: number;
}

export type PostureCheck = PostureCheckBase & TypedDemands;

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
  /** Base32; leaves the process only in its owner's provisioning URL. */
  readonly secret: string;
  readonly recoveryCodes: readonly string[];
  /** Used one-time passwords that would still be accepted. Missing in older data. */
  readonly usedSteps?: readonly UsedStep[];
}

/** Tokens revoked before they expire. */
export interface Revocation extends Entity {
  readonly type: 'JTI' | 'IDENTITY' | 'API_SESSION';
  readonly expiresAt: string;
  /** Until then, the refresh token with this id is still accepted. Nobody revoked it: its client used it. */
  readonly reusableUntil?: string;
}

export interface ApiSession extends Entity {
  readonly token: string;
  readonly identityId: string;
  /** Empty if the proof was a token of another issuer. */
  readonly authenticatorId: string;
  /** Ids of config types, or `all`. */
  readonly configTypes: readonly string[];
  readonly ipAddress: string;
  readonly lastActivityAt: string;
  /** Fingerprints of the certificates to which the session is bound. */
  readonly fingerprints: readonly string[];
  /** Whether the session requires a one-time password; `isMfaComplete` says whether it was given. */
  readonly isMfaRequired: boolean;
  readonly isMfaComplete: boolean;
  /** The signer whose token must accompany this session; null if none is required. */
  readonly requiredSignerId: string | null;
  /** The login used a certificate of this network. */
  readonly isCertExtendable: boolean;
  readonly improperClientCertChain: boolean;
}

/** A certificate issued for the time of an API session. */
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
  readonly type: PermissionType;
}

/** Maps each kind to its type. */
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
