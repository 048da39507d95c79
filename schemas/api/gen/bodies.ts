// Generated from schemas/api/bodies.json and schemas/lab by `npm run generate`. Do not edit.

export type Attributes = readonly string[];

export type AuthPolicyCreate = {
  readonly name: string;
  readonly primary: AuthPolicyPrimary;
  readonly secondary: AuthPolicySecondary;
  readonly tags?: Tags | null | undefined;
};

export type AuthPolicyPatch = {
  readonly name?: string | null | undefined;
  readonly primary?: AuthPolicyPrimaryPatch | null | undefined;
  readonly secondary?: AuthPolicySecondaryPatch | null | undefined;
  readonly tags?: Tags | null | undefined;
};

export type AuthPolicyPrimary = {
  readonly cert: AuthPolicyPrimaryCert;
  readonly extJwt: AuthPolicyPrimaryExtJwt;
  readonly updb: AuthPolicyPrimaryUpdb;
};

export type AuthPolicyPrimaryCert = {
  readonly allowExpiredCerts: boolean;
  readonly allowed: boolean;
};

export type AuthPolicyPrimaryCertPatch = {
  readonly allowExpiredCerts?: boolean | null | undefined;
  readonly allowed?: boolean | null | undefined;
};

export type AuthPolicyPrimaryExtJwt = {
  readonly allowed: boolean;
  readonly allowedSigners: readonly string[];
};

export type AuthPolicyPrimaryExtJwtPatch = {
  readonly allowed?: boolean | null | undefined;
  readonly allowedSigners?: readonly string[] | null | undefined;
};

export type AuthPolicyPrimaryPatch = {
  readonly cert?: AuthPolicyPrimaryCertPatch | null | undefined;
  readonly extJwt?: AuthPolicyPrimaryExtJwtPatch | null | undefined;
  readonly updb?: AuthPolicyPrimaryUpdbPatch | null | undefined;
};

export type AuthPolicyPrimaryUpdb = {
  readonly allowed: boolean;
  readonly lockoutDurationMinutes: number;
  readonly maxAttempts: number;
  readonly minPasswordLength: number;
  readonly requireMixedCase: boolean;
  readonly requireNumberChar: boolean;
  readonly requireSpecialChar: boolean;
};

export type AuthPolicyPrimaryUpdbPatch = {
  readonly allowed?: boolean | null | undefined;
  readonly lockoutDurationMinutes?: number | null | undefined;
  readonly maxAttempts?: number | null | undefined;
  readonly minPasswordLength?: number | null | undefined;
  readonly requireMixedCase?: boolean | null | undefined;
  readonly requireNumberChar?: boolean | null | undefined;
  readonly requireSpecialChar?: boolean | null | undefined;
};

export type AuthPolicySecondary = {
  readonly requireExtJwtSigner?: string | null | undefined;
  readonly requireTotp: boolean;
};

export type AuthPolicySecondaryPatch = {
  readonly requireExtJwtSigner?: string | null | undefined;
  readonly requireTotp?: boolean | null | undefined;
};

export type AuthPolicyUpdate = AuthPolicyCreate;

export type Authenticate = {
  readonly configTypes?: ConfigTypes | null | undefined;
  readonly envInfo?: EnvInfo | null | undefined;
  readonly password?: Password | null | undefined;
  readonly sdkInfo?: SdkInfo | null | undefined;
  readonly username?: Username | null | undefined;
};

export type AuthenticatorCreate = {
  readonly certPem?: string | null | undefined;
  readonly identityId: string;
  readonly method: string;
  readonly password?: string | null | undefined;
  readonly tags?: Tags | null | undefined;
  readonly username?: string | null | undefined;
};

export type AuthenticatorPatch = {
  readonly password?: PasswordNullable | null | undefined;
  readonly tags?: Tags | null | undefined;
  readonly username?: UsernameNullable | null | undefined;
};

export type AuthenticatorPatchWithCurrent = AuthenticatorPatch & {
  readonly currentPassword: Password;
};

export type AuthenticatorUpdate = {
  readonly password: Password;
  readonly tags?: Tags | null | undefined;
  readonly username: Username;
};

export type AuthenticatorUpdateWithCurrent = AuthenticatorUpdate & {
  readonly currentPassword: Password;
};

export type CaCreate = {
  readonly certPem: string;
  readonly externalIdClaim?: ExternalIdClaim | null | undefined;
  readonly identityNameFormat?: string | null | undefined;
  readonly identityRoles: Roles;
  readonly isAuthEnabled: boolean;
  readonly isAutoCaEnrollmentEnabled: boolean;
  readonly isOttCaEnrollmentEnabled: boolean;
  readonly name: string;
  readonly tags?: Tags | null | undefined;
};

export type CaPatch = {
  readonly externalIdClaim?: ExternalIdClaimPatch | null | undefined;
  readonly identityNameFormat?: string | null | undefined;
  readonly identityRoles?: Roles | null | undefined;
  readonly isAuthEnabled?: boolean | null | undefined;
  readonly isAutoCaEnrollmentEnabled?: boolean | null | undefined;
  readonly isOttCaEnrollmentEnabled?: boolean | null | undefined;
  readonly name?: string | null | undefined;
  readonly tags?: Tags | null | undefined;
};

export type CaUpdate = {
  readonly externalIdClaim?: ExternalIdClaim | null | undefined;
  readonly identityNameFormat: string;
  readonly identityRoles: Roles;
  readonly isAuthEnabled: boolean;
  readonly isAutoCaEnrollmentEnabled: boolean;
  readonly isOttCaEnrollmentEnabled: boolean;
  readonly name: string;
  readonly tags?: Tags | null | undefined;
};

export type CircuitDelete = {
  readonly immediate?: boolean | null | undefined;
};

export type ClusterMemberAdd = {
  readonly address: string;
  readonly isVoter: boolean;
};

export type ClusterMemberRemove = {
  readonly id: string;
};

export type ClusterTransferLeadership = {
  readonly newLeaderId?: string | null | undefined;
};

export type ConfigCreate = {
  readonly configTypeId: string;
  readonly data: unknown;
  readonly name: string;
  readonly tags?: Tags | null | undefined;
};

export type ConfigPatch = {
  readonly data?: Readonly<Record<string, unknown>> | null | undefined;
  readonly name?: string | null | undefined;
  readonly tags?: Tags | null | undefined;
};

export type ConfigTypeCreate = {
  readonly name: string;
  /** A JSON schema: an object. */
  readonly schema?: unknown;
  readonly tags?: Tags | null | undefined;
  readonly target?: 'service' | 'router' | 'other' | null | undefined;
};

export type ConfigTypePatch = {
  readonly name?: string | null | undefined;
  /** A JSON schema: an object. */
  readonly schema?: unknown;
  readonly tags?: Tags | null | undefined;
};

export type ConfigTypeUpdate = {
  readonly name: string;
  /** A JSON schema: an object. */
  readonly schema?: unknown;
  readonly tags?: Tags | null | undefined;
};

export type ConfigTypes = readonly string[];

export type ConfigUpdate = {
  readonly data: unknown;
  readonly name: string;
  readonly tags?: Tags | null | undefined;
};

export type ControllerSettingCreate = ControllerSettings & {
  readonly controllerId: string;
  readonly tags?: Tags | null | undefined;
};

export type ControllerSettingPatch = ControllerSettings & {
  readonly tags?: Tags | null | undefined;
};

export type ControllerSettingUpdate = ControllerSettings & {
  readonly tags?: Tags | null | undefined;
};

export type ControllerSettings = {
  readonly oidc?: Readonly<Record<string, unknown>> | null | undefined;
};

export type CurrentApiSessionCertificateCreate = {
  readonly csr: string;
};

export type DatabaseSnapshotCreate = {
  readonly path?: string | null | undefined;
};

export type DialBind = 'Dial' | 'Bind' | 'Invalid';

export type DisableParams = {
  readonly durationMinutes: number;
};

export type EdgeRouterCreate = {
  readonly appData?: Tags | null | undefined;
  readonly configs?: readonly string[] | null | undefined;
  readonly cost?: number | null | undefined;
  readonly ctrlChanListeners?: Readonly<Record<string, readonly string[]>> | null | undefined;
  readonly disabled?: boolean | null | undefined;
  readonly isTunnelerEnabled?: boolean | null | undefined;
  readonly name: string;
  readonly noTraversal?: boolean | null | undefined;
  readonly roleAttributes?: Attributes | null | undefined;
  readonly tags?: Tags | null | undefined;
};

export type EdgeRouterPatch = {
  readonly appData?: Tags | null | undefined;
  readonly configs?: readonly string[] | null | undefined;
  readonly cost?: number | null | undefined;
  readonly ctrlChanListeners?: Readonly<Record<string, readonly string[]>> | null | undefined;
  readonly disabled?: boolean | null | undefined;
  readonly isTunnelerEnabled?: boolean | null | undefined;
  readonly name?: string | null | undefined;
  readonly noTraversal?: boolean | null | undefined;
  readonly roleAttributes?: Attributes | null | undefined;
  readonly tags?: Tags | null | undefined;
};

export type EdgeRouterPolicyCreate = {
  readonly edgeRouterRoles?: Roles | null | undefined;
  readonly identityRoles?: Roles | null | undefined;
  readonly name: string;
  readonly semantic: Semantic;
  readonly tags?: Tags | null | undefined;
};

export type EdgeRouterPolicyPatch = {
  readonly edgeRouterRoles?: Roles | null | undefined;
  readonly identityRoles?: Roles | null | undefined;
  readonly name?: string | null | undefined;
  readonly semantic?: Semantic | null | undefined;
  readonly tags?: Tags | null | undefined;
};

export type EdgeRouterPolicyUpdate = {
  readonly edgeRouterRoles?: Roles | null | undefined;
  readonly identityRoles?: Roles | null | undefined;
  readonly name: string;
  readonly semantic: Semantic;
  readonly tags?: Tags | null | undefined;
};

export type EdgeRouterUpdate = {
  readonly appData?: Tags | null | undefined;
  readonly configs?: readonly string[] | null | undefined;
  readonly cost?: number | null | undefined;
  readonly ctrlChanListeners?: Readonly<Record<string, readonly string[]>> | null | undefined;
  readonly disabled?: boolean | null | undefined;
  readonly isTunnelerEnabled?: boolean | null | undefined;
  readonly name: string;
  readonly noTraversal?: boolean | null | undefined;
  readonly roleAttributes?: Attributes | null | undefined;
  readonly tags?: Tags | null | undefined;
};

export type EnrollmentCreate = {
  readonly caId?: string | null | undefined;
  readonly expiresAt: string;
  readonly identityId: string;
  readonly method: 'ott' | 'ottca' | 'updb';
  readonly username?: string | null | undefined;
};

export type EnrollmentRefresh = {
  readonly expiresAt: string;
};

export type EnvInfo = {
  readonly arch?: string | null | undefined;
  readonly domain?: string | null | undefined;
  readonly hostname?: string | null | undefined;
  readonly os?: string | null | undefined;
  readonly osRelease?: string | null | undefined;
  readonly osVersion?: string | null | undefined;
};

export type ErOttEnrollmentRequest = {
  readonly clientCsr?: string | null | undefined;
  readonly serverCsr?: string | null | undefined;
  readonly token?: string | null | undefined;
};

export type ExternalIdClaim = {
  readonly index: number;
  readonly location: 'COMMON_NAME' | 'SAN_URI' | 'SAN_EMAIL';
  readonly matcher: 'ALL' | 'PREFIX' | 'SUFFIX' | 'SCHEME';
  readonly matcherCriteria: string;
  readonly parser: 'NONE' | 'SPLIT';
  readonly parserCriteria: string;
};

export type ExternalIdClaimPatch = {
  readonly index?: number | null | undefined;
  readonly location?: 'COMMON_NAME' | 'SAN_URI' | 'SAN_EMAIL' | null | undefined;
  readonly matcher?: 'ALL' | 'PREFIX' | 'SUFFIX' | 'SCHEME' | null | undefined;
  readonly matcherCriteria?: string | null | undefined;
  readonly parser?: 'NONE' | 'SPLIT' | null | undefined;
  readonly parserCriteria?: string | null | undefined;
};

export type ExternalJwtSignerCreate = {
  readonly audience: string;
  readonly certPem?: string | null | undefined;
  readonly claimsProperty?: string | null | undefined;
  readonly clientId?: string | null | undefined;
  readonly enabled: boolean;
  readonly enrollAttributeClaimsSelector?: string | null | undefined;
  readonly enrollAuthPolicyId?: string | null | undefined;
  readonly enrollNameClaimsSelector?: string | null | undefined;
  readonly enrollToCertEnabled?: boolean | null | undefined;
  readonly enrollToTokenEnabled?: boolean | null | undefined;
  readonly externalAuthUrl?: string | null | undefined;
  readonly issuer: string;
  readonly jwksEndpoint?: string | null | undefined;
  readonly kid?: string | null | undefined;
  readonly name: string;
  readonly scopes?: readonly string[] | null | undefined;
  readonly tags?: Tags | null | undefined;
  readonly targetToken?: TargetToken | null | undefined;
  readonly useExternalId?: boolean | null | undefined;
};

export type ExternalJwtSignerPatch = {
  readonly audience?: string | null | undefined;
  readonly certPem?: string | null | undefined;
  readonly claimsProperty?: string | null | undefined;
  readonly clientId?: string | null | undefined;
  readonly enabled?: boolean | null | undefined;
  readonly enrollAttributeClaimsSelector?: string | null | undefined;
  readonly enrollAuthPolicyId?: string | null | undefined;
  readonly enrollNameClaimsSelector?: string | null | undefined;
  readonly enrollToCertEnabled?: boolean | null | undefined;
  readonly enrollToTokenEnabled?: boolean | null | undefined;
  readonly externalAuthUrl?: string | null | undefined;
  readonly issuer?: string | null | undefined;
  readonly jwksEndpoint?: string | null | undefined;
  readonly kid?: string | null | undefined;
  readonly name?: string | null | undefined;
  readonly scopes?: readonly string[] | null | undefined;
  readonly tags?: Tags | null | undefined;
  readonly targetToken?: TargetToken | null | undefined;
  readonly useExternalId?: boolean | null | undefined;
};

export type ExternalJwtSignerUpdate = {
  readonly audience: string;
  readonly certPem?: string | null | undefined;
  readonly claimsProperty?: string | null | undefined;
  readonly clientId?: string | null | undefined;
  readonly enabled: boolean;
  readonly enrollAttributeClaimsSelector?: string | null | undefined;
  readonly enrollAuthPolicyId?: string | null | undefined;
  readonly enrollNameClaimsSelector?: string | null | undefined;
  readonly enrollToCertEnabled?: boolean | null | undefined;
  readonly enrollToTokenEnabled?: boolean | null | undefined;
  readonly externalAuthUrl?: string | null | undefined;
  readonly issuer: string;
  readonly jwksEndpoint?: string | null | undefined;
  readonly kid?: string | null | undefined;
  readonly name: string;
  readonly scopes?: readonly string[] | null | undefined;
  readonly tags?: Tags | null | undefined;
  readonly targetToken?: TargetToken | null | undefined;
  readonly useExternalId?: boolean | null | undefined;
};

export type FabricRouterCreate = {
  readonly id: string;
  readonly name: string;
  readonly cost: number;
  readonly noTraversal: boolean;
  readonly disabled?: boolean | null | undefined;
  readonly fingerprint?: string | null | undefined;
  readonly configs?: readonly string[] | null | undefined;
  readonly ctrlChanListeners?: Readonly<Record<string, readonly string[]>> | null | undefined;
  readonly tags?: Tags | null | undefined;
};

export type FabricRouterPatch = {
  readonly name?: string | null | undefined;
  readonly cost?: number | null | undefined;
  readonly noTraversal?: boolean | null | undefined;
  readonly disabled?: boolean | null | undefined;
  readonly fingerprint?: string | null | undefined;
  readonly configs?: readonly string[] | null | undefined;
  readonly ctrlChanListeners?: Readonly<Record<string, readonly string[]>> | null | undefined;
  readonly tags?: Tags | null | undefined;
};

export type FabricRouterUpdate = {
  readonly name: string;
  readonly cost: number;
  readonly noTraversal: boolean;
  readonly disabled?: boolean | null | undefined;
  readonly fingerprint: string;
  readonly configs?: readonly string[] | null | undefined;
  readonly ctrlChanListeners?: Readonly<Record<string, readonly string[]>> | null | undefined;
  readonly tags?: Tags | null | undefined;
};

export type FabricServiceCreate = {
  readonly name: string;
  readonly terminatorStrategy?: string | null | undefined;
  readonly maxIdleTimeMillis?: number | null | undefined;
  readonly tags?: Tags | null | undefined;
};

export type FabricServicePatch = {
  readonly name?: string | null | undefined;
  readonly terminatorStrategy?: string | null | undefined;
  readonly maxIdleTimeMillis?: number | null | undefined;
  readonly tags?: Tags | null | undefined;
};

export type FabricServiceUpdate = FabricServiceCreate;

export type FabricTerminatorCreate = {
  readonly service: string;
  readonly router: string;
  readonly binding: string;
  readonly address: string;
  readonly cost?: number | null | undefined;
  readonly precedence?: TerminatorPrecedence | null | undefined;
  readonly instanceId?: string | null | undefined;
  readonly instanceSecret?: string | null | undefined;
  readonly hostId?: string | null | undefined;
  readonly tags?: Tags | null | undefined;
};

export type FabricTerminatorPatch = {
  readonly service?: string | null | undefined;
  readonly router?: string | null | undefined;
  readonly binding?: string | null | undefined;
  readonly address?: string | null | undefined;
  readonly cost?: number | null | undefined;
  readonly precedence?: TerminatorPrecedence | null | undefined;
  readonly instanceId?: string | null | undefined;
  readonly instanceSecret?: string | null | undefined;
  readonly hostId?: string | null | undefined;
  readonly tags?: Tags | null | undefined;
};

export type FabricTerminatorUpdate = {
  readonly service: string;
  readonly router: string;
  readonly binding: string;
  readonly address: string;
  readonly cost?: number | null | undefined;
  readonly precedence?: TerminatorPrecedence | null | undefined;
  readonly instanceId?: string | null | undefined;
  readonly instanceSecret?: string | null | undefined;
  readonly hostId?: string | null | undefined;
  readonly tags?: Tags | null | undefined;
};

export type GenericEnroll = {
  readonly certCsr?: string | null | undefined;
  readonly clientCsr?: string | null | undefined;
  readonly name?: string | null | undefined;
  readonly password?: Password | null | undefined;
  readonly serverCertCsr?: string | null | undefined;
  readonly username?: Username | null | undefined;
};

export type IdentityCreate = {
  readonly appData?: Tags | null | undefined;
  readonly authPolicyId?: string | null | undefined;
  readonly defaultHostingCost?: TerminatorCost | null | undefined;
  readonly defaultHostingPrecedence?: TerminatorPrecedence | null | undefined;
  readonly enrollment?: {
    readonly ott?: boolean | null | undefined;
    readonly ottca?: string | null | undefined;
    readonly updb?: string | null | undefined;
  } | null | undefined;
  readonly externalId?: string | null | undefined;
  readonly isAdmin: boolean;
  readonly name: string;
  readonly permissions?: Permissions | null | undefined;
  readonly roleAttributes?: Attributes | null | undefined;
  readonly serviceHostingCosts?: TerminatorCostMap | null | undefined;
  readonly serviceHostingPrecedences?: TerminatorPrecedenceMap | null | undefined;
  readonly tags?: Tags | null | undefined;
  readonly type: IdentityType;
};

export type IdentityExtendEnrollmentRequest = {
  readonly clientCertCsr: string;
};

export type IdentityExtendValidateEnrollmentRequest = {
  readonly clientCert: string;
};

export type IdentityPatch = {
  readonly appData?: Tags | null | undefined;
  readonly authPolicyId?: string | null | undefined;
  readonly defaultHostingCost?: TerminatorCost | null | undefined;
  readonly defaultHostingPrecedence?: TerminatorPrecedence | null | undefined;
  readonly externalId?: string | null | undefined;
  readonly isAdmin?: boolean | null | undefined;
  readonly name?: string | null | undefined;
  readonly permissions?: Permissions | null | undefined;
  readonly roleAttributes?: Attributes | null | undefined;
  readonly serviceHostingCosts?: TerminatorCostMap | null | undefined;
  readonly serviceHostingPrecedences?: TerminatorPrecedenceMap | null | undefined;
  readonly tags?: Tags | null | undefined;
  readonly type?: IdentityType | null | undefined;
};

export type IdentityType = 'User' | 'Device' | 'Service' | 'Router' | 'Default';

export type IdentityUpdate = {
  readonly appData?: Tags | null | undefined;
  readonly authPolicyId?: string | null | undefined;
  readonly defaultHostingCost?: TerminatorCost | null | undefined;
  readonly defaultHostingPrecedence?: TerminatorPrecedence | null | undefined;
  readonly externalId?: string | null | undefined;
  readonly isAdmin: boolean;
  readonly name: string;
  readonly permissions?: Permissions | null | undefined;
  readonly roleAttributes?: Attributes | null | undefined;
  readonly serviceHostingCosts?: TerminatorCostMap | null | undefined;
  readonly serviceHostingPrecedences?: TerminatorPrecedenceMap | null | undefined;
  readonly tags?: Tags | null | undefined;
  readonly type: IdentityType;
};

export type InspectRequest = {
  readonly appRegex: string;
  readonly requestedValues: readonly string[];
};

export type LinkPatch = {
  readonly staticCost?: number | null | undefined;
  readonly down?: boolean | null | undefined;
};

export type MfaCode = {
  readonly code: string;
};

export type NonceChallenge = {
  readonly keyId: string;
  readonly nonce: string;
};

export type OperatingSystem = {
  readonly type: OsType;
  readonly versions: readonly string[];
};

export type OsType = 'Windows' | 'WindowsServer' | 'Android' | 'iOS' | 'Linux' | 'macOS' | 'WINDOWS' | 'WINDOWSSERVER' | 'ANDROID' | 'IOS' | 'LINUX' | 'MACOS';

export type OttEnrollmentRequest = {
  readonly clientCsr?: string | null | undefined;
  readonly token?: string | null | undefined;
};

export type Password = string;

export type PasswordNullable = string;

export type Permissions = readonly ('admin_readonly' | 'auth-policy' | 'auth-policy.read' | 'auth-policy.create' | 'auth-policy.update' | 'auth-policy.delete' | 'ca' | 'ca.read' | 'ca.create' | 'ca.update' | 'ca.delete' | 'config' | 'config.read' | 'config.create' | 'config.update' | 'config.delete' | 'config-type' | 'config-type.read' | 'config-type.create' | 'config-type.update' | 'config-type.delete' | 'edge-router-policy' | 'edge-router-policy.read' | 'edge-router-policy.create' | 'edge-router-policy.update' | 'edge-router-policy.delete' | 'enrollment' | 'enrollment.read' | 'enrollment.create' | 'enrollment.update' | 'enrollment.delete' | 'external-jwt-signer' | 'external-jwt-signer.read' | 'external-jwt-signer.create' | 'external-jwt-signer.update' | 'external-jwt-signer.delete' | 'identity' | 'identity.read' | 'identity.create' | 'identity.update' | 'identity.delete' | 'posture-check' | 'posture-check.read' | 'posture-check.create' | 'posture-check.update' | 'posture-check.delete' | 'router' | 'router.read' | 'router.create' | 'router.update' | 'router.delete' | 'service' | 'service.read' | 'service.create' | 'service.update' | 'service.delete' | 'service-policy' | 'service-policy.read' | 'service-policy.create' | 'service-policy.update' | 'service-policy.delete' | 'service-edge-router-policy' | 'service-edge-router-policy.read' | 'service-edge-router-policy.create' | 'service-edge-router-policy.update' | 'service-edge-router-policy.delete' | 'terminator' | 'terminator.read' | 'terminator.create' | 'terminator.update' | 'terminator.delete' | 'controllers' | 'controllers.read' | 'ops' | 'ops.read' | 'ops.update' | 'ops.delete')[];

export type PostureCheckCreate = {
  readonly name: string;
  readonly roleAttributes?: Attributes | null | undefined;
  readonly tags?: Tags | null | undefined;
  readonly typeId: PostureCheckType;
  readonly operatingSystems?: readonly OperatingSystem[] | null | undefined;
  readonly macAddresses?: readonly string[] | null | undefined;
  readonly domains?: readonly string[] | null | undefined;
  readonly process?: Process | null | undefined;
  readonly ignoreLegacyEndpoints?: boolean | null | undefined;
  readonly promptOnUnlock?: boolean | null | undefined;
  readonly promptOnWake?: boolean | null | undefined;
  readonly timeoutSeconds?: number | null | undefined;
  readonly processes?: readonly ProcessMulti[] | null | undefined;
  readonly semantic?: ProcessSemantic | null | undefined;
};

export type PostureCheckDomainCreate = PostureCheckCreate & {
  readonly domains: readonly string[];
};

export type PostureCheckDomainPatch = PostureCheckPatch & {
  readonly domains?: readonly string[] | null | undefined;
};

export type PostureCheckDomainUpdate = PostureCheckUpdate & {
  readonly domains: readonly string[];
};

export type PostureCheckMacAddressCreate = PostureCheckCreate & {
  readonly macAddresses: readonly string[];
};

export type PostureCheckMacAddressPatch = PostureCheckPatch & {
  readonly macAddresses?: readonly string[] | null | undefined;
};

export type PostureCheckMacAddressUpdate = PostureCheckUpdate & {
  readonly macAddresses: readonly string[];
};

export type PostureCheckMfaCreate = PostureCheckCreate & PostureCheckMfaProperties;

export type PostureCheckMfaPatch = PostureCheckPatch & PostureCheckMfaPropertiesPatch;

export type PostureCheckMfaProperties = {
  readonly ignoreLegacyEndpoints?: boolean | null | undefined;
  readonly promptOnUnlock?: boolean | null | undefined;
  readonly promptOnWake?: boolean | null | undefined;
  readonly timeoutSeconds?: number | null | undefined;
};

export type PostureCheckMfaPropertiesPatch = {
  readonly ignoreLegacyEndpoints?: boolean | null | undefined;
  readonly promptOnUnlock?: boolean | null | undefined;
  readonly promptOnWake?: boolean | null | undefined;
  readonly timeoutSeconds?: number | null | undefined;
};

export type PostureCheckMfaUpdate = PostureCheckUpdate & PostureCheckMfaProperties;

export type PostureCheckOperatingSystemCreate = PostureCheckCreate & {
  readonly operatingSystems: readonly OperatingSystem[];
};

export type PostureCheckOperatingSystemPatch = PostureCheckPatch & {
  readonly operatingSystems?: readonly OperatingSystem[] | null | undefined;
};

export type PostureCheckOperatingSystemUpdate = PostureCheckUpdate & {
  readonly operatingSystems: readonly OperatingSystem[];
};

export type PostureCheckPatch = {
  readonly name?: string | null | undefined;
  readonly roleAttributes?: Attributes | null | undefined;
  readonly tags?: Tags | null | undefined;
  readonly typeId: PostureCheckType;
  readonly operatingSystems?: readonly OperatingSystem[] | null | undefined;
  readonly macAddresses?: readonly string[] | null | undefined;
  readonly domains?: readonly string[] | null | undefined;
  readonly process?: Process | null | undefined;
  readonly ignoreLegacyEndpoints?: boolean | null | undefined;
  readonly promptOnUnlock?: boolean | null | undefined;
  readonly promptOnWake?: boolean | null | undefined;
  readonly timeoutSeconds?: number | null | undefined;
  readonly processes?: readonly ProcessMulti[] | null | undefined;
  readonly semantic?: ProcessSemantic | null | undefined;
};

export type PostureCheckProcessCreate = PostureCheckCreate & {
  readonly process: Process;
};

export type PostureCheckProcessMultiCreate = PostureCheckCreate & {
  readonly processes: readonly ProcessMulti[];
  readonly semantic: ProcessSemantic;
};

export type PostureCheckProcessMultiPatch = PostureCheckPatch & {
  readonly processes?: readonly ProcessMulti[] | null | undefined;
  readonly semantic?: ProcessSemantic | null | undefined;
};

export type PostureCheckProcessMultiUpdate = PostureCheckUpdate & {
  readonly processes: readonly ProcessMulti[];
  readonly semantic: ProcessSemantic;
};

export type PostureCheckProcessPatch = PostureCheckPatch & {
  readonly process?: Process | null | undefined;
};

export type PostureCheckProcessUpdate = PostureCheckUpdate & {
  readonly process: Process;
};

export type PostureCheckType = 'OS' | 'PROCESS' | 'DOMAIN' | 'MAC' | 'MFA' | 'PROCESS_MULTI';

export type PostureCheckUpdate = {
  readonly name: string;
  readonly roleAttributes?: Attributes | null | undefined;
  readonly tags?: Tags | null | undefined;
  readonly typeId?: PostureCheckType | null | undefined;
  readonly operatingSystems?: readonly OperatingSystem[] | null | undefined;
  readonly macAddresses?: readonly string[] | null | undefined;
  readonly domains?: readonly string[] | null | undefined;
  readonly process?: Process | null | undefined;
  readonly ignoreLegacyEndpoints?: boolean | null | undefined;
  readonly promptOnUnlock?: boolean | null | undefined;
  readonly promptOnWake?: boolean | null | undefined;
  readonly timeoutSeconds?: number | null | undefined;
  readonly processes?: readonly ProcessMulti[] | null | undefined;
  readonly semantic?: ProcessSemantic | null | undefined;
};

export type PostureResponseCreate = {
  readonly id: string;
  readonly typeId: string;
  readonly build?: string | null | undefined;
  readonly type?: string | null | undefined;
  readonly version?: string | null | undefined;
  readonly macAddresses?: readonly string[] | null | undefined;
  readonly domain?: string | null | undefined;
  readonly hash?: string | null | undefined;
  readonly isRunning?: boolean | null | undefined;
  readonly path?: string | null | undefined;
  readonly signerFingerprints?: readonly string[] | null | undefined;
  readonly unlocked?: boolean | null | undefined;
  readonly woken?: boolean | null | undefined;
};

export type PostureResponseDomainCreate = PostureResponseCreate & {
  readonly domain: string;
};

export type PostureResponseEndpointStateCreate = PostureResponseCreate & {
  readonly unlocked?: boolean | null | undefined;
  readonly woken?: boolean | null | undefined;
};

export type PostureResponseMacAddressCreate = PostureResponseCreate & {
  readonly macAddresses: readonly string[];
};

export type PostureResponseOperatingSystemCreate = PostureResponseCreate & {
  readonly build?: string | null | undefined;
  readonly type: string;
  readonly version: string;
};

export type PostureResponseProcessCreate = PostureResponseCreate & {
  readonly hash?: string | null | undefined;
  readonly isRunning?: boolean | null | undefined;
  readonly path?: string | null | undefined;
  readonly signerFingerprints?: readonly string[] | null | undefined;
};

export type PostureResponses = readonly PostureResponseCreate[];

export type Process = {
  readonly hashes?: readonly string[] | null | undefined;
  readonly osType: OsType;
  readonly path: string;
  readonly signerFingerprint?: string | null | undefined;
};

export type ProcessMulti = {
  readonly hashes?: readonly string[] | null | undefined;
  readonly os?: OsType | null | undefined;
  readonly osType?: OsType | null | undefined;
  readonly path: string;
  readonly signerFingerprints?: readonly string[] | null | undefined;
};

export type ProcessSemantic = 'AllOf' | 'AnyOf' | 'OneOf';

export type ReEnroll = {
  readonly expiresAt: string;
};

export type RequestExtendAuthenticator = {
  readonly rollKeys?: boolean | null | undefined;
};

export type RevocationCreate = {
  readonly id: string;
  readonly tags?: Tags | null | undefined;
  readonly type: RevocationTypeEnum;
};

export type RevocationTypeEnum = 'JTI' | 'IDENTITY' | 'API_SESSION';

export type Roles = readonly string[];

export type RouterCreate = {
  readonly configs?: readonly string[] | null | undefined;
  readonly cost?: number | null | undefined;
  readonly ctrlChanListeners?: Readonly<Record<string, readonly string[]>> | null | undefined;
  readonly disabled?: boolean | null | undefined;
  readonly name: string;
  readonly noTraversal?: boolean | null | undefined;
  readonly tags?: Tags | null | undefined;
};

export type RouterExtendEnrollmentRequest = {
  readonly certCsr: string;
  readonly serverCertCsr: string;
};

export type RouterPatch = {
  readonly configs?: readonly string[] | null | undefined;
  readonly cost?: number | null | undefined;
  readonly ctrlChanListeners?: Readonly<Record<string, readonly string[]>> | null | undefined;
  readonly disabled?: boolean | null | undefined;
  readonly name?: string | null | undefined;
  readonly noTraversal?: boolean | null | undefined;
  readonly tags?: Tags | null | undefined;
};

export type RouterUpdate = {
  readonly configs?: readonly string[] | null | undefined;
  readonly cost?: number | null | undefined;
  readonly ctrlChanListeners?: Readonly<Record<string, readonly string[]>> | null | undefined;
  readonly disabled?: boolean | null | undefined;
  readonly name: string;
  readonly noTraversal?: boolean | null | undefined;
  readonly tags?: Tags | null | undefined;
};

export type SdkInfo = {
  readonly appId?: string | null | undefined;
  readonly appVersion?: string | null | undefined;
  readonly branch?: string | null | undefined;
  readonly revision?: string | null | undefined;
  readonly type?: string | null | undefined;
  readonly version?: string | null | undefined;
};

export type Semantic = 'AllOf' | 'AnyOf';

export type ServiceConfigAssign = {
  readonly configId: string;
  readonly serviceId: string;
};

export type ServiceConfigsAssignList = readonly ServiceConfigAssign[];

export type ServiceCreate = {
  readonly configs?: readonly string[] | null | undefined;
  readonly encryptionRequired: boolean;
  readonly maxIdleTimeMillis?: number | null | undefined;
  readonly name: string;
  readonly roleAttributes?: readonly string[] | null | undefined;
  readonly tags?: Tags | null | undefined;
  readonly terminatorStrategy?: string | null | undefined;
};

export type ServiceEdgeRouterPolicyCreate = {
  readonly edgeRouterRoles?: Roles | null | undefined;
  readonly name: string;
  readonly semantic: Semantic;
  readonly serviceRoles?: Roles | null | undefined;
  readonly tags?: Tags | null | undefined;
};

export type ServiceEdgeRouterPolicyPatch = {
  readonly edgeRouterRoles?: Roles | null | undefined;
  readonly name?: string | null | undefined;
  readonly semantic?: Semantic | null | undefined;
  readonly serviceRoles?: Roles | null | undefined;
  readonly tags?: Tags | null | undefined;
};

export type ServiceEdgeRouterPolicyUpdate = {
  readonly edgeRouterRoles?: Roles | null | undefined;
  readonly name: string;
  readonly semantic: Semantic;
  readonly serviceRoles?: Roles | null | undefined;
  readonly tags?: Tags | null | undefined;
};

export type ServicePatch = {
  readonly configs?: readonly string[] | null | undefined;
  readonly encryptionRequired?: boolean | null | undefined;
  readonly maxIdleTimeMillis?: number | null | undefined;
  readonly name?: string | null | undefined;
  readonly roleAttributes?: readonly string[] | null | undefined;
  readonly tags?: Tags | null | undefined;
  readonly terminatorStrategy?: string | null | undefined;
};

export type ServicePolicyCreate = {
  readonly identityRoles?: Roles | null | undefined;
  readonly name: string;
  readonly postureCheckRoles?: Roles | null | undefined;
  readonly semantic: Semantic;
  readonly serviceRoles?: Roles | null | undefined;
  readonly tags?: Tags | null | undefined;
  readonly type: DialBind;
};

export type ServicePolicyPatch = {
  readonly identityRoles?: Roles | null | undefined;
  readonly name?: string | null | undefined;
  readonly postureCheckRoles?: Roles | null | undefined;
  readonly semantic?: Semantic | null | undefined;
  readonly serviceRoles?: Roles | null | undefined;
  readonly tags?: Tags | null | undefined;
  readonly type?: DialBind | null | undefined;
};

export type ServicePolicyUpdate = {
  readonly identityRoles?: Roles | null | undefined;
  readonly name: string;
  readonly postureCheckRoles?: Roles | null | undefined;
  readonly semantic: Semantic;
  readonly serviceRoles?: Roles | null | undefined;
  readonly tags?: Tags | null | undefined;
  readonly type: DialBind;
};

export type ServiceUpdate = {
  readonly configs?: readonly string[] | null | undefined;
  readonly encryptionRequired?: boolean | null | undefined;
  readonly maxIdleTimeMillis?: number | null | undefined;
  readonly name: string;
  readonly roleAttributes?: readonly string[] | null | undefined;
  readonly tags?: Tags | null | undefined;
  readonly terminatorStrategy?: string | null | undefined;
};

export type SessionCreate = {
  readonly serviceId?: string | null | undefined;
  readonly tags?: Tags | null | undefined;
  readonly type?: DialBind | null | undefined;
};

export type Tags = Readonly<Record<string, unknown>>;

export type TargetToken = 'ACCESS' | 'ID';

export type TerminatorCost = number;

export type TerminatorCostMap = Readonly<Record<string, TerminatorCost>>;

export type TerminatorCreate = {
  readonly address: string;
  readonly binding: string;
  readonly cost?: TerminatorCost | null | undefined;
  readonly identity?: string | null | undefined;
  readonly identitySecret?: string | null | undefined;
  readonly precedence?: TerminatorPrecedence | null | undefined;
  readonly router: string;
  readonly service: string;
  readonly tags?: Tags | null | undefined;
};

export type TerminatorPatch = {
  readonly address?: string | null | undefined;
  readonly binding?: string | null | undefined;
  readonly cost?: TerminatorCost | null | undefined;
  readonly precedence?: TerminatorPrecedence | null | undefined;
  readonly router?: string | null | undefined;
  readonly service?: string | null | undefined;
  readonly tags?: Tags | null | undefined;
};

export type TerminatorPrecedence = 'default' | 'required' | 'failed' | '';

export type TerminatorPrecedenceMap = Readonly<Record<string, 'default' | 'required' | 'failed'>>;

export type TerminatorUpdate = {
  readonly address: string;
  readonly binding: string;
  readonly cost?: TerminatorCost | null | undefined;
  readonly precedence?: TerminatorPrecedence | null | undefined;
  readonly router: string;
  readonly service: string;
  readonly tags?: Tags | null | undefined;
};

export type TokenEnrollmentRequest = {
  readonly clientCsr?: string | null | undefined;
};

export type TraceSpec = {
  readonly channels?: readonly string[] | null | undefined;
  readonly duration?: string | null | undefined;
  readonly enabled?: boolean | null | undefined;
  readonly traceId?: string | null | undefined;
};

export type UpdbEnrollment = {
  readonly username?: Username | null | undefined;
  readonly password?: Password | null | undefined;
  readonly token?: string | null | undefined;
};

export type Username = string;

export type UsernameNullable = string;

export type MemberPause = {
  readonly duration?: string | null | undefined;
};

export type ClockPatch = {
  /** The new time, such as 2027-01-31T12:00:00Z. */
  readonly time?: string | null | undefined;
  /** How many times as fast as the real time it runs; 0: it stands still. */
  readonly rate?: number | null | undefined;
};

export type ClockAdvance = {
  readonly duration: string;
};

export type FaultCreate = {
  /** Requests to the APIs, messages of control channels, links, SDK connections, connections of a proxy, changes in the store. */
  readonly kind: 'http' | 'control' | 'link' | 'sdk' | 'proxy' | 'store';
  /** The method of the request. */
  readonly method?: string | null | undefined;
  /** The beginning of the path; with * for any characters, the whole path. */
  readonly path?: string | null | undefined;
  /** The id of an operation, such as listServices. */
  readonly operation?: string | null | undefined;
  /** Id or name of the caller. */
  readonly identity?: string | null | undefined;
  /** 200 to 599: the answer in place of the operation. */
  readonly status?: number | null | undefined;
  /** An error code of the APIs, such as NOT_FOUND. */
  readonly code?: string | null | undefined;
  /** The body of the answer: a text as it is, anything else as JSON. */
  readonly body?: unknown;
  /** Headers of the answer, such as Retry-After. */
  readonly headers?: Readonly<Record<string, string>> | null | undefined;
  /** The connection closes without an answer. */
  readonly close?: boolean | null | undefined;
  /** The connection closes after half of the answer. */
  readonly truncate?: boolean | null | undefined;
  /** A duration, such as 500ms, before the request, the message or the change is handled. */
  readonly delay?: string | null | undefined;
  /** One answer for each request, in this order; afterwards requests are handled as usual. */
  readonly answers?: readonly ({
    /** 200 to 599: the answer in place of the operation. */
    readonly status?: number | null | undefined;
    /** An error code of the APIs, such as NOT_FOUND. */
    readonly code?: string | null | undefined;
    /** The body of the answer: a text as it is, anything else as JSON. */
    readonly body?: unknown;
    /** Headers of the answer, such as Retry-After. */
    readonly headers?: Readonly<Record<string, string>> | null | undefined;
    /** The connection closes without an answer. */
    readonly close?: boolean | null | undefined;
    /** The connection closes after half of the answer. */
    readonly truncate?: boolean | null | undefined;
    /** A duration, such as 500ms, before the request, the message or the change is handled. */
    readonly delay?: string | null | undefined;
  })[] | null | undefined;
  /** Id or name of the router: of control channels, links or SDK connections. */
  readonly router?: string | null | undefined;
  /** Name of the router at the other end of the link. */
  readonly peer?: string | null | undefined;
  /** Name of a proxy. */
  readonly proxy?: string | null | undefined;
  /** The name of a content type, such as Route. */
  readonly message?: string | null | undefined;
  /** Messages from the router (in) or to it (out); bytes from the side that dialed (up) or to it (down). */
  readonly direction?: 'in' | 'out' | 'up' | 'down' | null | undefined;
  /** The message is lost. */
  readonly drop?: boolean | null | undefined;
  /** The message arrives twice. */
  readonly duplicate?: boolean | null | undefined;
  /** The message arrives after the next one. */
  readonly reorder?: boolean | null | undefined;
  /** New control channels are rejected. */
  readonly reject?: boolean | null | undefined;
  /** A duration that bytes travel longer. */
  readonly latency?: string | null | undefined;
  /** A duration that is added to the latency or taken from it, at random. */
  readonly jitter?: string | null | undefined;
  /** Bytes per second. */
  readonly bandwidth?: number | null | undefined;
  /** Bytes of the pieces in which everything is written. */
  readonly slice?: number | null | undefined;
  /** The duration between two pieces; default 10ms. */
  readonly sliceDelay?: string | null | undefined;
  /** The connection is closed after so many bytes. */
  readonly limit?: number | null | undefined;
  /** A duration by which the end of a direction arrives later. */
  readonly closeDelay?: string | null | undefined;
  /** Bytes wait until the fault ends. */
  readonly stall?: boolean | null | undefined;
  /** The far side is gone, and the near one does not learn of it. */
  readonly halfOpen?: boolean | null | undefined;
  /** Connections are reset, new ones too. */
  readonly cut?: boolean | null | undefined;
  /** The store rejects changes. */
  readonly fail?: boolean | null | undefined;
  /** The store rejects changes, as with a full disk. */
  readonly full?: boolean | null | undefined;
  /** How many requests, messages, connections or changes it affects; default: all. */
  readonly times?: number | null | undefined;
  /** 0 to 1: the share of the matching ones that it affects; default 1. */
  readonly probability?: number | null | undefined;
  /** A duration, after which it affects nothing. */
  readonly lasts?: string | null | undefined;
  /** A name that several faults share, such as that of a test; they can be removed together. */
  readonly scope?: string | null | undefined;
};

export type JournalPatch = {
  /** Whether to record the messages of the links between routers in the process of the simulator. */
  readonly links: boolean;
};

export type JournalVerify = {
  readonly kind?: 'http' | 'control' | 'link' | null | undefined;
  /** Id or name of the caller. */
  readonly identity?: string | null | undefined;
  /** Id or name. */
  readonly router?: string | null | undefined;
  /** The name of the content type of a message, such as Route. */
  readonly message?: string | null | undefined;
  /** The beginning of the path; with * for any characters, the whole path. */
  readonly path?: string | null | undefined;
  /** Such as listServices. */
  readonly operation?: string | null | undefined;
  readonly method?: string | null | undefined;
  readonly status?: number | null | undefined;
  /** The id of the fault that was applied. */
  readonly fault?: string | null | undefined;
  /** Only requests with a status of at least 400 or without an answer, and rejected routers. */
  readonly failed?: boolean | null | undefined;
  /** Only later entries than the one with this number. */
  readonly after?: number | null | undefined;
  /** The exact number of entries; default: at least one. */
  readonly times?: number | null | undefined;
  /** A duration to wait for them, such as 5s. */
  readonly within?: string | null | undefined;
};

export type JournalWait = {
  readonly kind?: 'http' | 'control' | 'link' | null | undefined;
  /** Id or name of the caller. */
  readonly identity?: string | null | undefined;
  /** Id or name. */
  readonly router?: string | null | undefined;
  /** The name of the content type of a message, such as Route. */
  readonly message?: string | null | undefined;
  /** The beginning of the path; with * for any characters, the whole path. */
  readonly path?: string | null | undefined;
  /** Such as listServices. */
  readonly operation?: string | null | undefined;
  readonly method?: string | null | undefined;
  readonly status?: number | null | undefined;
  /** The id of the fault that was applied. */
  readonly fault?: string | null | undefined;
  /** Only requests with a status of at least 400 or without an answer, and rejected routers. */
  readonly failed?: boolean | null | undefined;
  /** Only later entries than the one with this number. */
  readonly after?: number | null | undefined;
  /** A duration, such as 5s; default 10s, at most 50s. */
  readonly timeout?: string | null | undefined;
};

export type LabIdentityCreate = {
  readonly roleAttributes?: Attributes | null | undefined;
};

export type LabServiceCreate = {
  readonly name: string;
  /** Name or id of the edge router that hosts the service. */
  readonly host: string;
  /** Port of the server, as the router reaches it. */
  readonly port: number;
  /** Host of the server, as the router reaches it; default 127.0.0.1. */
  readonly address?: string | null | undefined;
  /** Default: true. */
  readonly encryptionRequired?: boolean | null | undefined;
};

export type NetworkWait = {
  /** A duration, such as 30s; default 15s, at most 50s. */
  readonly timeout?: string | null | undefined;
};

export type ProxyCreate = {
  /** 1 to 100 letters, digits, dots, colons, hyphens and underscores. */
  readonly name: string;
  /** The host:port to which its connections lead. */
  readonly to: string;
  /** Where it listens; default: a free port. */
  readonly port?: number | null | undefined;
};

export type SnapshotCreate = {
  readonly name: string;
};

export type SnapshotLoad = {
  /** The name of the snapshot; an earlier one with this name is replaced. */
  readonly name: string;
  /** The content of the file. */
  readonly file: Readonly<Record<string, unknown>>;
  /** Take credentials from the file, and identities that become administrators; default false. */
  readonly credentials?: boolean | null | undefined;
};

export type LabRestore = {
  /** Parts that stay as they are. */
  readonly keep?: readonly ('state' | 'clock' | 'faults' | 'journal')[] | null | undefined;
};

export type Seed = Readonly<Record<string, unknown>>;

export type WhyQuestion = {
  readonly identity: string;
  readonly service: string;
  readonly type: 'Dial' | 'Bind';
  readonly router?: string | null | undefined;
  readonly session?: string | null | undefined;
};

export type WhyLoginQuestion = {
  /** Its id or name. */
  readonly identity: string;
};

export type WhySessionQuestion = {
  /** The id of an API session, also of one that has ended. */
  readonly session: string;
};

export type WhyPostureQuestion = {
  /** Its id or name. */
  readonly identity: string;
  /** Only in this API session; otherwise in all sessions of the identity. */
  readonly session?: string | null | undefined;
};

export type WhyLinkQuestion = {
  /** Its id or name. */
  readonly router: string;
  /** The id or name of the router at the other end. */
  readonly other: string;
};
