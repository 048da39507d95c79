// Generated from schemas/api/answers.json and schemas/lab by `npm run generate`. Do not edit.

export type ApiAddress = {
  readonly url?: string;
  readonly version?: string;
};

export type ApiSessionDetail = BaseEntity & {
  readonly authQueries: readonly AuthQueryDetail[] | null;
  readonly authenticatorId: string;
  readonly cachedLastActivityAt?: string;
  readonly configTypes: readonly string[] | null;
  readonly identity: EntityRef | null;
  readonly identityId: string;
  readonly improperClientCertChain?: boolean;
  readonly ipAddress: string;
  readonly isCertExtendRequested?: boolean;
  readonly isCertExtendable: boolean;
  readonly isCertKeyRollRequested?: boolean;
  readonly isMfaComplete: boolean;
  readonly isMfaRequired: boolean;
  readonly lastActivityAt?: string;
  readonly token: string;
};

export type ApiSessionPostureData = {
  readonly endpointState?: PostureDataEndpointState;
  readonly mfa: PostureDataMfa;
  readonly sdkInfo?: SdkInfoDetail;
};

export type ApiVersion = {
  readonly apiBaseUrls?: readonly string[] | null;
  readonly path: string;
  readonly version?: string;
};

export type AuthPolicyDetail = BaseEntity & {
  readonly name: string;
  readonly primary: AuthPolicyPrimaryDetail;
  readonly secondary: AuthPolicySecondaryDetail;
};

export type AuthPolicyPrimaryCertDetail = {
  readonly allowExpiredCerts: boolean;
  readonly allowed: boolean;
};

export type AuthPolicyPrimaryDetail = {
  readonly cert: AuthPolicyPrimaryCertDetail;
  readonly extJwt: AuthPolicyPrimaryExtJwtDetail;
  readonly updb: AuthPolicyPrimaryUpdbDetail;
};

export type AuthPolicyPrimaryExtJwtDetail = {
  readonly allowed: boolean;
  readonly allowedSigners: readonly string[] | null;
};

export type AuthPolicyPrimaryUpdbDetail = {
  readonly allowed: boolean;
  readonly lockoutDurationMinutes: number;
  readonly maxAttempts: number;
  readonly minPasswordLength: number;
  readonly requireMixedCase: boolean;
  readonly requireNumberChar: boolean;
  readonly requireSpecialChar: boolean;
};

export type AuthPolicySecondaryDetail = {
  readonly requireExtJwtSigner?: string | null;
  readonly requireTotp: boolean;
};

export type AuthQueryDetail = {
  readonly clientId?: string | null;
  readonly format?: 'numeric' | 'alpha' | 'alphaNumeric';
  readonly httpMethod?: string;
  readonly httpUrl?: string | null;
  readonly id?: string;
  readonly isTotpEnrolled?: boolean;
  readonly maxLength?: number;
  readonly minLength?: number;
  readonly provider: 'ziti' | 'url';
  readonly scopes?: readonly string[] | null;
  readonly typeId?: 'MFA' | 'TOTP' | 'EXT-JWT';
};

export type AuthenticatorDetail = BaseEntity & {
  readonly certPem?: string | null;
  readonly extendRequestedAt?: string | null;
  readonly fingerprint?: string | null;
  readonly identity: EntityRef | null;
  readonly identityId: string;
  readonly isExtendRequested?: boolean;
  readonly isIssuedByNetwork?: boolean;
  readonly isKeyRollRequested?: boolean;
  readonly lastAuthResolvedToRoot?: boolean;
  readonly lastExtendRolledKeys?: boolean;
  readonly method: string;
  readonly username?: string | null;
};

export type BaseEntity = {
  readonly _links: Links;
  readonly createdAt: string;
  readonly id: string;
  readonly tags?: Readonly<Record<string, unknown>> | null;
  readonly updatedAt: string;
};

export type CaDetail = BaseEntity & {
  readonly certPem: string;
  readonly externalIdClaim?: ExternalIdClaimDetail;
  readonly fingerprint: string;
  readonly identityNameFormat: string;
  readonly identityRoles: readonly string[] | null;
  readonly isAuthEnabled: boolean;
  readonly isAutoCaEnrollmentEnabled: boolean;
  readonly isOttCaEnrollmentEnabled: boolean;
  readonly isVerified: boolean;
  readonly name: string;
  readonly verificationToken?: string;
};

export type CircuitDetail = BaseEntity & {
  readonly clientId: string;
  readonly path: {
    readonly links: readonly EntityRef[];
    readonly nodes: readonly EntityRef[];
  };
  readonly service: EntityRef;
  readonly terminator: EntityRef;
};

export type ClientExternalJwtSignerDetail = BaseEntity & {
  readonly audience?: string | null;
  readonly clientId?: string | null;
  readonly enrollToCertEnabled?: boolean;
  readonly enrollToTokenEnabled?: boolean;
  readonly externalAuthUrl: string | null;
  readonly name: string;
  readonly openIdConfigurationUrl?: string;
  readonly scopes?: readonly string[] | null;
  readonly targetToken?: 'ACCESS' | 'ID' | null;
};

export type ClusterMember = {
  readonly id: string;
  /** Of its control channel. */
  readonly address: string;
  readonly voter: boolean;
  readonly leader: boolean;
  readonly version: string;
  readonly connected: boolean;
  readonly readOnly: boolean;
  /** Of several members: the index of its data. */
  readonly index?: number;
  /** Of several members: the changes that it lacks. */
  readonly behind?: number;
  /** Why it does not follow the database. */
  readonly problem?: string;
};

export type ClusterMembers = readonly ClusterMember[];

export type CommonEdgeRouterProperties = {
  readonly appData?: Readonly<Record<string, unknown>> | null;
  readonly cost: number | null;
  readonly disabled: boolean;
  readonly hostname: string;
  readonly isOnline: boolean;
  readonly name: string;
  readonly noTraversal: boolean | null;
  readonly supportedProtocols: Readonly<Record<string, string>> | null;
  readonly syncStatus: string;
  readonly capabilities?: readonly string[] | null;
};

export type ConfigDetail = BaseEntity & {
  readonly configType: EntityRef | null;
  readonly configTypeId: string;
  readonly data: object;
  readonly name: string;
};

export type ConfigTypeDetail = BaseEntity & {
  readonly name: string;
  readonly schema: Readonly<Record<string, unknown>> | null;
  readonly target?: 'service' | 'router' | 'other' | null;
};

export type ControllerDetail = BaseEntity & {
  readonly apiAddresses?: Readonly<Record<string, readonly ApiAddress[] | null>> | null;
  readonly certPem: string;
  readonly ctrlAddress?: string | null;
  readonly fingerprint: string;
  readonly isOnline: boolean;
  readonly isPreferredLeader?: boolean;
  readonly lastJoinedAt: string | null;
  readonly name: string;
};

export type CreateLocation = {
  readonly _links: Links;
  readonly id: string;
};

export type CurrentApiSessionCertificateCreateResponse = CreateLocation & {
  readonly cas?: string;
  readonly certificate: string;
};

export type CurrentApiSessionCertificateDetail = BaseEntity & {
  readonly certificate: string;
  readonly fingerprint: string;
  readonly subject: string;
  readonly validFrom: string;
  readonly validTo: string;
};

export type CurrentApiSessionDetail = ApiSessionDetail & {
  readonly expirationSeconds: number;
  readonly expiresAt: string;
};

export type CurrentApiSessionServiceUpdateList = {
  readonly lastChangeAt: string;
};

export type CurrentIdentityEdgeRouterDetail = BaseEntity & CommonEdgeRouterProperties;

export type DataIntegrityCheckDetail = {
  readonly description: string;
  readonly fixed: boolean;
};

export type DataIntegrityCheckDetails = {
  readonly endTime: string | null;
  readonly error: string | null;
  readonly fixingErrors: boolean;
  readonly inProgress: boolean;
  readonly results: readonly DataIntegrityCheckDetail[] | null;
  readonly startTime: string | null;
  readonly tooManyErrors: boolean;
};

export type DatabaseSnapshot = {
  readonly path: string;
};

export type DetailMfa = BaseEntity & {
  readonly isVerified: boolean;
  readonly provisioningUrl?: string;
  readonly recoveryCodes?: readonly string[] | null;
};

export type DetailMfaRecoveryCodes = BaseEntity & {
  readonly recoveryCodes: readonly string[] | null;
};

export type Document = {
  readonly openapi: string;
  readonly info: object;
  readonly paths: object;
};

export type EdgeRouterDetail = BaseEntity & CommonEdgeRouterProperties & {
  readonly certPem?: string | null;
  readonly configs?: readonly string[] | null;
  readonly ctrlChanListeners?: Readonly<Record<string, readonly string[] | null>> | null;
  readonly enrollmentCreatedAt?: string | null;
  readonly enrollmentExpiresAt?: string | null;
  readonly enrollmentJwt?: string | null;
  readonly enrollmentToken?: string | null;
  readonly fingerprint?: string;
  readonly interfaces?: readonly Interface[] | null;
  readonly isTunnelerEnabled: boolean;
  readonly isVerified: boolean;
  readonly roleAttributes: readonly string[] | null;
  readonly unverifiedCertPem?: string | null;
  readonly unverifiedFingerprint?: string | null;
  readonly versionInfo?: VersionInfo | null;
  readonly capabilitiesMask?: number;
};

export type EdgeRouterPolicyDetail = BaseEntity & {
  readonly edgeRouterRoles: readonly string[] | null;
  readonly edgeRouterRolesDisplay: readonly NamedRole[] | null;
  readonly identityRoles: readonly string[] | null;
  readonly identityRolesDisplay: readonly NamedRole[] | null;
  readonly isSystem: boolean;
  readonly name: string;
  readonly semantic: 'AllOf' | 'AnyOf';
};

export type Enrolled = {
  readonly controllers?: readonly ControllerDetail[];
  readonly cert?: string;
  readonly ca?: string;
  readonly serverCert?: string;
  readonly username?: string;
};

export type EnrollmentCerts = {
  readonly ca?: string;
  readonly cert?: string;
  readonly serverCert?: string;
};

export type EnrollmentDetail = BaseEntity & {
  readonly caId?: string | null;
  readonly edgeRouter?: EntityRef | null;
  readonly edgeRouterId?: string | null;
  readonly expiresAt: string;
  readonly identity?: EntityRef | null;
  readonly identityId?: string;
  readonly jwt?: string;
  readonly method: string;
  readonly token: string;
  readonly transitRouter?: EntityRef | null;
  readonly transitRouterId?: string | null;
  readonly username?: string;
};

export type EntityRef = {
  readonly _links?: Links;
  readonly entity?: string;
  readonly id?: string;
  readonly name?: string;
};

export type EnvInfoDetail = {
  readonly arch?: string;
  readonly domain?: string;
  readonly hostname?: string;
  readonly os?: string;
  readonly osRelease?: string;
  readonly osVersion?: string;
};

export type ExternalIdClaimDetail = {
  readonly index: number | null;
  readonly location: 'COMMON_NAME' | 'SAN_URI' | 'SAN_EMAIL' | null;
  readonly matcher: 'ALL' | 'PREFIX' | 'SUFFIX' | 'SCHEME' | null;
  readonly matcherCriteria: string | null;
  readonly parser: 'NONE' | 'SPLIT' | null;
  readonly parserCriteria: string | null;
};

export type ExternalJwtSignerDetail = BaseEntity & {
  readonly audience: string;
  readonly certPem: string | null;
  readonly claimsProperty: string;
  readonly clientId?: string | null;
  readonly commonName: string;
  readonly enabled: boolean;
  readonly enrollAttributeClaimsSelector?: string;
  readonly enrollAuthPolicyId?: string;
  readonly enrollNameClaimsSelector?: string;
  readonly enrollToCertEnabled?: boolean;
  readonly enrollToTokenEnabled?: boolean;
  readonly externalAuthUrl: string | null;
  readonly fingerprint: string | null;
  readonly issuer: string;
  readonly jwksEndpoint: string | null;
  readonly kid: string | null;
  readonly name: string;
  readonly notAfter: string;
  readonly notBefore: string;
  readonly scopes: readonly string[] | null;
  readonly targetToken: 'ACCESS' | 'ID' | null;
  readonly useExternalId: boolean;
};

export type FabricRouterDetail = BaseEntity & {
  readonly configs: readonly string[] | null;
  readonly connected: boolean;
  readonly cost: number;
  readonly ctrlChanListeners?: Readonly<Record<string, readonly string[] | null>> | null;
  readonly disabled: boolean;
  readonly fingerprint: string | null;
  readonly interfaces: readonly Interface[] | null;
  readonly listenerAddresses: readonly ({
    readonly address: string;
    readonly protocol: string;
  })[] | null;
  readonly name: string;
  readonly noTraversal: boolean;
  readonly versionInfo?: VersionInfo;
};

export type FabricServiceDetail = BaseEntity & {
  readonly maxIdleTimeMillis: number;
  readonly name: string;
  readonly terminatorStrategy: string;
};

export type FabricTerminatorDetail = BaseEntity & {
  readonly address: string;
  readonly binding: string;
  readonly cost: number;
  readonly dynamicCost: number;
  readonly hostId: string;
  readonly instanceId: string;
  readonly precedence: 'default' | 'required' | 'failed';
  readonly router: EntityRef | null;
  readonly routerId: string;
  readonly service: EntityRef | null;
  readonly serviceId: string;
};

export type FailedServiceRequest = {
  readonly apiSessionId?: string;
  readonly policyFailures?: readonly PolicyFailure[] | null;
  readonly serviceId?: string;
  readonly serviceName?: string;
  readonly sessionType?: 'Dial' | 'Bind' | 'Invalid';
  readonly when?: string;
};

export type FailedServiceRequestList = readonly FailedServiceRequest[];

export type IdentityAuthenticators = {
  readonly cert?: {
    readonly id: string;
    readonly fingerprint: string | null;
  };
  readonly updb?: {
    readonly id: string;
    readonly username: string | null;
  };
};

export type IdentityDetail = BaseEntity & {
  readonly appData?: Readonly<Record<string, unknown>> | null;
  readonly authPolicy: EntityRef | null;
  readonly authPolicyId: string;
  readonly authenticators: IdentityAuthenticators;
  readonly defaultHostingCost: number;
  readonly defaultHostingPrecedence?: 'default' | 'required' | 'failed';
  readonly disabled: boolean;
  readonly disabledAt?: string | null;
  readonly disabledUntil?: string | null;
  readonly edgeRouterConnectionStatus: 'online' | 'offline' | 'unknown';
  readonly enrollment: IdentityEnrollments;
  readonly envInfo: EnvInfoDetail;
  readonly externalId: string | null;
  readonly hasApiSession: boolean;
  readonly hasEdgeRouterConnection: boolean;
  readonly interfaces?: readonly Interface[] | null;
  readonly isAdmin: boolean;
  readonly isDefaultAdmin: boolean;
  readonly isMfaEnabled: boolean;
  readonly name: string;
  readonly permissions: readonly string[] | null;
  readonly roleAttributes: readonly string[] | null;
  readonly sdkInfo: SdkInfoDetail;
  readonly serviceHostingCosts: Readonly<Record<string, number>> | null;
  readonly serviceHostingPrecedences: Readonly<Record<string, 'default' | 'required' | 'failed'>> | null;
  readonly type: EntityRef;
  readonly typeId: string;
};

export type IdentityEnrollment = {
  readonly ca?: EntityRef | null;
  readonly caId?: string | null;
  readonly expiresAt: string;
  readonly id: string;
  readonly jwt: string;
  readonly token: string;
};

export type IdentityEnrollments = {
  readonly ott?: IdentityEnrollment;
  readonly ottca?: IdentityEnrollment;
  readonly updb?: IdentityEnrollment;
};

export type IdentityExtendCerts = {
  readonly ca?: string;
  readonly clientCert?: string;
};

export type IdentityTypeDetail = BaseEntity & {
  readonly name?: string;
};

export type InspectResponse = {
  readonly success: boolean;
  readonly errors: readonly string[] | null;
  readonly values: readonly InspectedValue[] | null;
};

export type InspectedValue = {
  readonly appId: string;
  readonly name: string;
  /** A map or a text, by name. */
  readonly value: unknown;
};

export type Interface = {
  readonly addresses?: readonly string[] | null;
  readonly hardwareAddress: string;
  readonly index: number;
  readonly isBroadcast: boolean;
  readonly isLoopback: boolean;
  readonly isMulticast: boolean;
  readonly isRunning: boolean;
  readonly isUp: boolean;
  readonly mtu: number;
  readonly name: string;
};

export type Jwk = {
  readonly alg?: string;
  readonly crv?: string;
  readonly d?: string;
  readonly dp?: string;
  readonly dq?: string;
  readonly e?: string;
  readonly key_ops?: readonly string[] | null;
  readonly kid?: string;
  readonly kty: string;
  readonly n?: string;
  readonly oth?: readonly OtherPrime[] | null;
  readonly p?: string;
  readonly q?: string;
  readonly qi?: string;
  readonly use?: string;
  readonly x?: string;
  readonly x5c?: readonly string[] | null;
  readonly x5t?: string;
  readonly 'x5t#S256'?: string;
  readonly x5u?: string;
  readonly y?: string;
};

export type Jwks = {
  readonly keys?: readonly Jwk[] | null;
};

export type Link = {
  readonly comment?: string;
  readonly href: string;
  readonly method?: string;
};

export type LinkDetail = {
  readonly connections: readonly ({
    readonly dest: string;
    readonly source: string;
    readonly type: string;
  })[];
  readonly cost: number;
  readonly destLatency: number;
  readonly destRouter: EntityRef | null;
  readonly down: boolean;
  readonly id: string;
  readonly iteration: number;
  readonly protocol: string;
  readonly sourceLatency: number;
  readonly sourceRouter: EntityRef | null;
  readonly state: string;
  readonly staticCost: number;
};

export type Links = Readonly<Record<string, Link>> | null;

export type ListProtocols = Readonly<Record<string, Protocol>> | null;

export type ListSummaryCounts = Readonly<Record<string, number>> | null;

export type NamedRole = {
  readonly name?: string;
  readonly role?: string;
};

export type Names = readonly string[];

export type NetworkJWT = {
  readonly name: string;
  readonly token: string;
};

export type NetworkJWTList = readonly NetworkJWT[] | null;

export type NonceSignature = {
  readonly algorithm: string;
  readonly caPool: string;
  readonly kid: string;
  readonly signature: string;
};

export type NotServed = string;

export type OperatingSystemDetail = {
  readonly type: 'Windows' | 'WindowsServer' | 'Android' | 'iOS' | 'Linux' | 'macOS';
  readonly versions: readonly string[] | null;
};

export type OtherPrime = {
  readonly d?: string;
  readonly r?: string;
  readonly t?: string;
};

export type PolicyAdvice = {
  readonly commonRouters?: readonly RouterEntityRef[] | null;
  readonly identity?: EntityRef | null;
  readonly identityId?: string;
  readonly identityRouterCount?: number;
  readonly isBindAllowed?: boolean;
  readonly isDialAllowed?: boolean;
  readonly service?: EntityRef | null;
  readonly serviceId?: string;
  readonly serviceRouterCount?: number;
};

export type PolicyFailure = {
  readonly checks?: readonly PostureCheckFailure[] | null;
  readonly policyId?: string;
  readonly policyName?: string;
};

export type PostureCheckDetail = {
  readonly _links: Links;
  readonly createdAt: string;
  readonly domains?: readonly string[];
  readonly id: string;
  readonly ignoreLegacyEndpoints?: boolean;
  readonly macAddresses?: readonly string[];
  readonly name: string;
  readonly operatingSystems?: readonly ({
    readonly type: string;
    readonly versions: readonly string[] | null;
  })[];
  readonly process?: {
    readonly osType: string;
    readonly path: string;
    readonly hashes: readonly string[] | null;
    readonly signerFingerprint?: string;
  };
  readonly processes?: readonly ({
    readonly osType?: string;
    readonly path?: string;
    readonly hashes?: readonly string[] | null;
    readonly signerFingerprints?: readonly string[] | null;
  })[];
  readonly promptOnUnlock?: boolean;
  readonly promptOnWake?: boolean;
  readonly roleAttributes: readonly string[] | null;
  readonly semantic?: string;
  readonly tags: Readonly<Record<string, unknown>> | null;
  readonly timeoutSeconds?: number;
  readonly typeId: string;
  readonly updatedAt: string;
  readonly version: number;
};

export type PostureCheckFailure = {
  readonly postureCheckId: string;
  readonly postureCheckName: string;
  readonly postureCheckType: string;
};

export type PostureCheckTypeDetail = BaseEntity & {
  readonly name: string;
  readonly operatingSystems: readonly OperatingSystemDetail[] | null;
  readonly version: string | null;
};

export type PostureData = {
  readonly apiSessionPostureData: Readonly<Record<string, ApiSessionPostureData>> | null;
  readonly domain: PostureDataDomain;
  readonly mac: PostureDataMac;
  readonly os: PostureDataOs;
  readonly processes: readonly PostureDataProcess[] | null;
};

export type PostureDataBase = {
  readonly lastUpdatedAt: string | null;
  readonly postureCheckId: string;
  readonly timedOut: boolean;
};

export type PostureDataDomain = PostureDataBase & {
  readonly domain: string | null;
};

export type PostureDataEndpointState = {
  readonly unlockedAt: string | null;
  readonly wokenAt: string | null;
};

export type PostureDataMac = PostureDataBase & {
  readonly addresses: readonly string[] | null;
};

export type PostureDataMfa = {
  readonly apiSessionId: string;
  readonly passedAt: string | null;
  readonly passedMfa: boolean;
  readonly passedOnUnlock: boolean;
  readonly passedOnWake: boolean;
};

export type PostureDataOs = PostureDataBase & {
  readonly build: string | null;
  readonly type: string | null;
  readonly version: string | null;
};

export type PostureDataProcess = PostureDataBase & {
  readonly binaryHash?: string;
  readonly isRunning?: boolean;
  readonly signerFingerprints?: readonly string[] | null;
  readonly path?: string;
};

export type PostureQueries = {
  readonly isPassing: boolean;
  readonly policyId: string;
  readonly policyType?: 'Dial' | 'Bind' | 'Invalid';
  readonly postureQueries: readonly PostureQuery[] | null;
};

export type PostureQuery = BaseEntity & {
  readonly isPassing: boolean;
  readonly process?: PostureQueryProcess;
  readonly processes?: readonly PostureQueryProcess[] | null;
  readonly promptGracePeriodSeconds?: number;
  readonly promptOnUnlock?: boolean;
  readonly promptOnWake?: boolean;
  readonly queryType: 'OS' | 'PROCESS' | 'DOMAIN' | 'MAC' | 'MFA' | 'PROCESS_MULTI';
  readonly timeout: number;
  readonly timeoutAt?: string | null;
  readonly timeoutRemaining: number;
};

export type PostureQueryProcess = {
  readonly osType?: 'Windows' | 'WindowsServer' | 'Android' | 'iOS' | 'Linux' | 'macOS';
  readonly path?: string;
};

export type PostureResponse = {
  readonly services: readonly PostureResponseService[] | null;
};

export type PostureResponseService = {
  readonly id: string;
  readonly name: string;
  readonly postureQueryType: string;
  readonly timeout: number;
  readonly timeoutRemaining: number;
};

export type Protocol = {
  readonly address: string;
};

export type RevocationDetail = BaseEntity & {
  readonly expiresAt: string;
  readonly type: 'JTI' | 'IDENTITY' | 'API_SESSION';
};

export type RoleAttribute = string;

export type RoleAttributeUsage = {
  readonly roleAttribute: string;
  readonly usage: Readonly<Record<string, {
    readonly count: number;
    readonly ids: readonly string[] | null;
  }>>;
};

export type RouterDetail = BaseEntity & {
  readonly configs?: readonly string[] | null;
  readonly cost: number;
  readonly ctrlChanListeners?: Readonly<Record<string, readonly string[] | null>> | null;
  readonly disabled: boolean;
  readonly enrollmentCreatedAt?: string | null;
  readonly enrollmentExpiresAt?: string | null;
  readonly enrollmentJwt?: string | null;
  readonly enrollmentToken?: string | null;
  readonly fingerprint: string | null;
  readonly interfaces?: readonly Interface[] | null;
  readonly isOnline: boolean;
  readonly isVerified: boolean;
  readonly name: string;
  readonly noTraversal: boolean;
  readonly unverifiedCertPem?: string | null;
  readonly unverifiedFingerprint?: string | null;
};

export type RouterEntityRef = EntityRef & {
  readonly isOnline: boolean;
};

export type SdkInfoDetail = {
  readonly appId?: string;
  readonly appVersion?: string;
  readonly branch?: string;
  readonly revision?: string;
  readonly type?: string;
  readonly version?: string;
};

export type ServiceConfigDetail = {
  readonly config: EntityRef | null;
  readonly configId: string;
  readonly service: EntityRef | null;
  readonly serviceId: string;
};

export type ServiceDetail = BaseEntity & {
  readonly config: Readonly<Record<string, object>> | null;
  readonly configs: readonly string[] | null;
  readonly encryptionRequired: boolean;
  readonly maxIdleTimeMillis: number;
  readonly name: string;
  readonly permissions: readonly ('Dial' | 'Bind' | 'Invalid')[] | null;
  readonly postureQueries: readonly PostureQueries[] | null;
  readonly roleAttributes: readonly string[] | null;
  readonly terminatorStrategy: string;
};

export type ServiceEdgeRouterPolicyDetail = BaseEntity & {
  readonly edgeRouterRoles: readonly string[] | null;
  readonly edgeRouterRolesDisplay: readonly NamedRole[] | null;
  readonly name: string;
  readonly semantic: 'AllOf' | 'AnyOf';
  readonly serviceRoles: readonly string[] | null;
  readonly serviceRolesDisplay: readonly NamedRole[] | null;
};

export type ServiceEdgeRouters = {
  readonly edgeRouters?: readonly CommonEdgeRouterProperties[] | null;
};

export type ServicePolicyDetail = BaseEntity & {
  readonly identityRoles: readonly string[] | null;
  readonly identityRolesDisplay: readonly NamedRole[] | null;
  readonly name: string;
  readonly postureCheckRoles: readonly string[] | null;
  readonly postureCheckRolesDisplay: readonly NamedRole[] | null;
  readonly semantic: 'AllOf' | 'AnyOf';
  readonly serviceRoles: readonly string[] | null;
  readonly serviceRolesDisplay: readonly NamedRole[] | null;
  readonly type: 'Dial' | 'Bind' | 'Invalid';
};

export type SessionCreated = {
  readonly _links?: Links | null;
  readonly id: string;
  readonly createdAt?: string | null;
  readonly updatedAt?: string | null;
  readonly apiSession: EntityRef | null;
  readonly apiSessionId: string;
  readonly edgeRouters: readonly SessionEdgeRouter[] | null;
  readonly identityId: string;
  readonly service: EntityRef | null;
  readonly serviceId: string;
  readonly token: string;
  readonly type: 'Dial' | 'Bind' | 'Invalid';
};

export type SessionDetail = BaseEntity & {
  readonly apiSession: EntityRef | null;
  readonly apiSessionId: string;
  readonly edgeRouters: readonly SessionEdgeRouter[] | null;
  readonly identityId: string;
  readonly service: EntityRef | null;
  readonly serviceId: string;
  readonly token: string;
  readonly type: 'Dial' | 'Bind' | 'Invalid';
};

export type SessionEdgeRouter = CommonEdgeRouterProperties & {
  readonly urls: Readonly<Record<string, string>> | null;
  readonly version?: string;
};

export type SessionManagementDetail = SessionDetail & {
  readonly servicePolicies?: readonly EntityRef[] | null;
};

export type SessionRoutePathDetail = {
  readonly routePath?: readonly string[] | null;
};

export type SpecDetail = BaseEntity & {
  readonly name: string;
};

export type SpecList = readonly SpecDetail[];

export type TerminatorClientDetail = BaseEntity & {
  readonly identity: string;
  readonly routerId: string;
  readonly service: EntityRef | null;
  readonly serviceId: string;
};

export type TerminatorDetail = BaseEntity & {
  readonly address: string;
  readonly binding: string;
  readonly cost: number;
  readonly dynamicCost: number;
  readonly identity: string;
  readonly precedence: 'default' | 'required' | 'failed';
  readonly router: EntityRef | null;
  readonly routerId: string;
  readonly service: EntityRef | null;
  readonly serviceId: string;
};

export type TotpToken = {
  readonly issuedAt: string;
  readonly token: string;
};

export type TraceDetail = {
  readonly enabled?: boolean;
  readonly traceId?: string;
  readonly until?: string;
};

export type Version = {
  readonly apiVersions?: Readonly<Record<string, Readonly<Record<string, ApiVersion>> | null>> | null;
  readonly buildDate?: string;
  readonly capabilities?: readonly string[] | null;
  readonly revision?: string;
  readonly runtimeVersion?: string;
  readonly version?: string;
};

export type VersionInfo = {
  readonly arch: string;
  readonly buildDate: string;
  readonly os: string;
  readonly revision: string;
  readonly version: string;
};

export type LabClock = {
  readonly now: string;
  /** The distance from the real time, such as 31m0s; negative in the past. */
  readonly advanced: string;
  /** How many times as fast as the real time it runs; 0: it stands still. */
  readonly rate: number;
};

export type LabFaults = readonly LabFault[];

export type LabFault = {
  readonly id: string;
  /** How many requests, messages, connections or changes it has affected. */
  readonly hits: number;
  /** Requests to the APIs, messages of control channels, links, SDK connections, connections of a proxy, changes in the store. */
  readonly kind: 'http' | 'control' | 'link' | 'sdk' | 'proxy' | 'store';
  /** The method of the request. */
  readonly method?: string;
  /** The beginning of the path; with * for any characters, the whole path. */
  readonly path?: string;
  /** The id of an operation, such as listServices. */
  readonly operation?: string;
  /** Id or name of the caller. */
  readonly identity?: string;
  /** 200 to 599: the answer in place of the operation. */
  readonly status?: number;
  /** An error code of the APIs, such as NOT_FOUND. */
  readonly code?: string;
  /** The body of the answer: a text as it is, anything else as JSON. */
  readonly body?: unknown;
  /** Headers of the answer, such as Retry-After. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The connection closes without an answer. */
  readonly close?: boolean;
  /** The connection closes after half of the answer. */
  readonly truncate?: boolean;
  /** A duration, such as 500ms, before the request, the message or the change is handled. */
  readonly delay?: string;
  /** One answer for each request, in this order; afterwards requests are handled as usual. */
  readonly answers?: readonly ({
    /** 200 to 599: the answer in place of the operation. */
    readonly status?: number;
    /** An error code of the APIs, such as NOT_FOUND. */
    readonly code?: string;
    /** The body of the answer: a text as it is, anything else as JSON. */
    readonly body?: unknown;
    /** Headers of the answer, such as Retry-After. */
    readonly headers?: Readonly<Record<string, string>>;
    /** The connection closes without an answer. */
    readonly close?: boolean;
    /** The connection closes after half of the answer. */
    readonly truncate?: boolean;
    /** A duration, such as 500ms, before the request, the message or the change is handled. */
    readonly delay?: string;
  })[];
  /** Id or name of the router: of control channels, links or SDK connections. */
  readonly router?: string;
  /** Name of the router at the other end of the link. */
  readonly peer?: string;
  /** Name of a proxy. */
  readonly proxy?: string;
  /** The name of a content type, such as Route. */
  readonly message?: string;
  /** Messages from the router (in) or to it (out); bytes from the side that dialed (up) or to it (down). */
  readonly direction?: 'in' | 'out' | 'up' | 'down';
  /** The message is lost. */
  readonly drop?: boolean;
  /** The message arrives twice. */
  readonly duplicate?: boolean;
  /** The message arrives after the next one. */
  readonly reorder?: boolean;
  /** New control channels are rejected. */
  readonly reject?: boolean;
  /** A duration that bytes travel longer. */
  readonly latency?: string;
  /** A duration that is added to the latency or taken from it, at random. */
  readonly jitter?: string;
  /** Bytes per second. */
  readonly bandwidth?: number;
  /** Bytes of the pieces in which everything is written. */
  readonly slice?: number;
  /** The duration between two pieces; default 10ms. */
  readonly sliceDelay?: string;
  /** The connection is closed after so many bytes. */
  readonly limit?: number;
  /** A duration by which the end of a direction arrives later. */
  readonly closeDelay?: string;
  /** Bytes wait until the fault ends. */
  readonly stall?: boolean;
  /** The far side is gone, and the near one does not learn of it. */
  readonly halfOpen?: boolean;
  /** Connections are reset, new ones too. */
  readonly cut?: boolean;
  /** The store rejects changes. */
  readonly fail?: boolean;
  /** The store rejects changes, as with a full disk. */
  readonly full?: boolean;
  /** How many requests, messages, connections or changes it affects; default: all. */
  readonly times?: number;
  /** 0 to 1: the share of the matching ones that it affects; default 1. */
  readonly probability?: number;
  /** A duration, after which it affects nothing. */
  readonly lasts?: string;
  /** A name that several faults share, such as that of a test; they can be removed together. */
  readonly scope?: string;
};

export type LabJournalState = {
  /** Whether it records the messages of links. */
  readonly links: boolean;
};

export type LabJournal = readonly LabJournalEntry[];

export type LabJournalEntry = {
  readonly kind: 'http' | 'control' | 'link';
  /** Increases by one with each entry; the parameter `after` excludes earlier ones. */
  readonly sequence: number;
  readonly time: string;
  readonly method?: string;
  readonly path?: string;
  readonly query?: string;
  readonly api?: string;
  readonly operation?: string;
  /** Null if the client got no answer. */
  readonly status?: number | null;
  /** The code of the error. */
  readonly code?: string;
  /** Why a request or a router was rejected, or why a connection ended. */
  readonly reason?: string;
  /** Milliseconds until the answer. */
  readonly duration?: number;
  /** The address of the client. */
  readonly source?: string;
  readonly identity?: {
    readonly id: string;
    readonly name: string;
  };
  /** Size of the answer, or of the body of a message. */
  readonly bytes?: number;
  /** JSON of the request without secrets, cut after 4,096 characters. */
  readonly body?: string;
  /** Headers of the request without secrets; most have only their names. */
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON of a successful answer without secrets, if it has at most 4,096 bytes. */
  readonly answer?: string;
  /** Headers of the answer without secrets. */
  readonly answerHeaders?: Readonly<Record<string, string>>;
  readonly event?: 'connected' | 'disconnected' | 'rejected' | 'message';
  readonly router?: {
    readonly id?: string;
    readonly name?: string;
  };
  readonly direction?: 'in' | 'out';
  /** The router at the other end of a link. */
  readonly peer?: {
    readonly id?: string;
    readonly name?: string;
  };
  /** The id of the link of a message. */
  readonly link?: string;
  /** The name of the content type. */
  readonly message?: string;
  /** The fields of a message of at most 8,192 bytes, without secrets; never the data of a payload. */
  readonly content?: Readonly<Record<string, unknown>>;
  /** The id of the fault that was applied. */
  readonly fault?: string;
};

export type LabRecording = {
  /** Requests in it. */
  readonly requests: number;
  /** Requests that it lacks: without an answer, or larger than the journal keeps. */
  readonly omitted: number;
  /** For a file that `sim replay` answers from. */
  readonly text: string;
};

export type LabWaited = {
  /** Missing if none came in time. */
  readonly entry?: LabJournalEntry;
  /** Why it does not hold, with the nearest entries. */
  readonly message?: string;
};

export type LabVerified = {
  readonly verified: boolean;
  /** How many entries meet the filter. */
  readonly count: number;
  /** Why it does not hold, with the nearest entries. */
  readonly message?: string;
};

export type LabIdentityFile = {
  /** Address of the client API. */
  readonly ztAPI: string;
  readonly ztAPIs: readonly string[];
  readonly id: {
    readonly cert: string;
    readonly key: string;
    readonly ca: string;
  };
};

export type LabService = {
  readonly id: string;
  readonly name: string;
  /** Name of the router that hosts it. */
  readonly host: string;
  readonly dial?: LabDialPlace;
};

export type LabDialPlace = {
  readonly host: string;
  readonly port: number;
};

export type LabToken = {
  readonly token: string;
};

export type LabTopology = {
  readonly controllers: readonly LabController[];
  /** Online ones first; at most 1,000. */
  readonly routers: readonly LabRouter[];
  /** At most 5,000. */
  readonly links: readonly LabLink[];
  /** The newest first; at most 500. */
  readonly circuits: readonly LabCircuit[];
  readonly totals: {
    readonly routers: number;
    readonly online: number;
    readonly links: number;
    readonly circuits: number;
  };
  /** How many, by kind. */
  readonly entities: Readonly<Record<string, number>>;
  readonly journal: {
    readonly entries: number;
    /** Sequence number of the latest entry. */
    readonly last: number;
    /** Whether it records the messages of links; missing without routers in the process. */
    readonly links?: boolean;
  };
};

export type LabController = {
  readonly id: string;
  readonly url: string;
  readonly controlAddress: string;
  readonly connected: boolean;
  readonly leader: boolean;
  /** Its last start. */
  readonly startedAt: string;
  /** Index of the last change that it has. */
  readonly index: number;
  /** How many changes it lacks. */
  readonly behind: number;
  /** Why it does not follow the changes of others; missing if it does. */
  readonly problem?: string;
};

export type LabRouter = {
  readonly id: string;
  readonly name: string;
  readonly online: boolean;
  readonly type: 'edge' | 'transit';
  readonly disabled: boolean;
  readonly cost: number;
  /** Missing while it is offline. */
  readonly version?: string;
  /** How many identities are connected to it. */
  readonly identities: number;
};

export type LabLink = {
  readonly id: string;
  /** Id of the dialing router. */
  readonly source: string;
  readonly destination: string;
  /** disabled by an administrator; disconnected: one of its routers is offline. */
  readonly state: 'up' | 'disabled' | 'disconnected';
  readonly cost: number;
  /** Milliseconds, the mean of both ends; missing until both have measured it. */
  readonly latency?: number;
};

export type LabCircuit = {
  readonly id: string;
  /** Name; the id if it no longer exists. */
  readonly service: string;
  /** Name of the dialing identity; the id if it no longer exists. */
  readonly client: string;
  /** Ids of routers, from the client to the host. */
  readonly path: readonly string[];
  /** Milliseconds. */
  readonly age: number;
  /** Bytes per second in both directions: since the last reading if the router of the client runs beside the simulator, else from its latest usage report (metrics.reportInterval); missing until it is known. */
  readonly rate?: number;
};

export type LabProxies = readonly LabProxy[];

export type LabProxy = {
  readonly name: string;
  readonly host: string;
  /** Where it listens. */
  readonly port: number;
  /** The host:port to which its connections lead; empty until the router has told its address. */
  readonly to: string;
  /** Open connections. */
  readonly connections: number;
};

export type LabSnapshots = readonly LabSnapshot[];

export type LabSnapshot = {
  readonly name: string;
  readonly takenAt: string;
  readonly index: number;
  readonly entities: number;
  /** The controller that keeps it in memory. */
  readonly controllerId: string;
};

export type LabSnapshotFile = {
  readonly format: 'edgeweave-snapshot/1';
  readonly name: string;
  readonly takenAt: string;
  /** Whether it has passwords, certificates, second factors and one-time tokens. */
  readonly credentials: boolean;
  readonly clock: {
    readonly rate: number;
    /** Milliseconds that were added to the real time. */
    readonly advanced: number;
    /** Milliseconds since the epoch. */
    readonly now: number;
  };
  /** By kind. */
  readonly entities: object;
};

export type LabRestored = {
  readonly created: number;
  readonly changed: number;
  readonly deleted: number;
};

export type LabReady = {
  readonly event: 'ready';
  /** Base address of the management API, as in the ready line. */
  readonly management: string;
  /** Base address of the client API. */
  readonly client: string;
  /** Address for routers. */
  readonly ctrl: string;
  readonly controllerId: string;
  /** The authorities of the network's certificates, as PEM. */
  readonly ca: string;
  /** Version of the simulator. */
  readonly version: string;
};

export type LabSeeded = {
  /** How many, by section. */
  readonly created: Readonly<Record<string, number>>;
  /** How many, by section. */
  readonly existing: Readonly<Record<string, number>>;
  /** Without apply: the first 20 entities that exist with other values than the document. */
  readonly different?: readonly ({
    /** Such as service policy. */
    readonly kind: string;
    readonly name: string;
    readonly fields: readonly string[];
  })[];
  /** How many, by section; only with apply. */
  readonly changed?: Readonly<Record<string, number>>;
  /** How many, by section; only with prune. */
  readonly deleted?: Readonly<Record<string, number>>;
  /** The first 1,000 changes, in their order; only with plan. */
  readonly steps?: readonly ({
    readonly action: 'create' | 'change' | 'delete';
    /** Such as service policy. */
    readonly kind: string;
    readonly name: string;
    /** The fields that change. */
    readonly fields?: readonly string[];
  })[];
};

export type LabWhatIf = {
  /** The first 1,000 new rights. */
  readonly gained: readonly LabRight[];
  /** The first 1,000 lost rights. */
  readonly lost: readonly LabRight[];
  readonly totals: {
    readonly gained: number;
    readonly lost: number;
  };
  readonly seeded: LabSeeded;
};

export type LabRight = {
  readonly identity: string;
  readonly service: string;
  readonly type: 'Dial' | 'Bind';
};

export type LabNetwork = Readonly<Record<string, readonly object[]>>;

export type LabWhy = {
  readonly allowed: boolean;
  readonly identity: {
    readonly id: string;
    readonly name: string;
  };
  readonly service: {
    readonly id: string;
    readonly name: string;
  };
  readonly type: 'Dial' | 'Bind';
  readonly reasons: readonly LabWhyFinding[];
};

export type LabWhyFinding = {
  readonly ok: boolean;
  /** Access is denied because of it. */
  readonly blocking?: boolean;
  readonly kind: string;
  readonly id: string;
  readonly name: string;
  readonly message: string;
  readonly remedy?: string;
  /** A seed that does so, for `seed` with `apply`; missing where a seed cannot. */
  readonly repair?: LabNetwork;
};

export type LabExplanation = {
  /** No reason blocks. */
  readonly ok: boolean;
  readonly summary: string;
  readonly reasons: readonly LabWhyFinding[];
};
