// The entities that the simulator keeps, as they are stored. What an API sends of them is made in api/.

export type EntityKind =
  | 'apiSession'
  | 'authenticator'
  | 'authPolicy'
  | 'config'
  | 'configType'
  | 'router'
  | 'edgeRouterPolicy'
  | 'enrollment'
  | 'identity'
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
}

export interface Enrollment extends Entity {
  readonly method: 'ott' | 'erott' | 'updb';
  readonly token: string;
  readonly jwt: string;
  readonly expiresAt: string;
  readonly identityId: string | null;
  readonly edgeRouterId: string | null;
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
}

export interface Router extends Named {
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

export interface ApiSession extends Entity {
  readonly token: string;
  readonly identityId: string;
  readonly authenticatorId: string;
  /** Ids of config types, or `all`. */
  readonly configTypes: readonly string[];
  readonly ipAddress: string;
  readonly lastActivityAt: string;
  /** Fingerprints of the certificates that the session is bound to. */
  readonly fingerprints: readonly string[];
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
  authenticator: Authenticator;
  authPolicy: AuthPolicy;
  config: Config;
  configType: ConfigType;
  router: Router;
  edgeRouterPolicy: EdgeRouterPolicy;
  enrollment: Enrollment;
  identity: Identity;
  service: Service;
  serviceEdgeRouterPolicy: ServiceEdgeRouterPolicy;
  servicePolicy: ServicePolicy;
  session: Session;
  terminator: Terminator;
}
