// The sections of a seed in the order in which their entities are created: each after those to which it refers. Each
// section converts an entry to the body of the management API, and creates the entity by its rules.

import { withoutNulls } from '#lib/without-nulls.ts';
import { createAuthPolicy } from '../../entities/auth-policy.ts';
import { addAuthenticator, passwordProof } from '../../entities/authenticator.ts';
import { Body } from '../../entities/body.ts';
import { createCa } from '../../entities/ca.ts';
import { createConfig, createConfigType } from '../../entities/config.ts';
import { addEnrollment, type IdentityEnrollment } from '../../entities/enrollment.ts';
import { createSigner } from '../../entities/external-jwt-signer.ts';
import { createIdentity, disableIdentity } from '../../entities/identity.ts';
import { createEdgeRouterPolicy, createServiceEdgeRouterPolicy, createServicePolicy } from '../../entities/policy.ts';
import { createPostureCheck } from '../../entities/posture-check.ts';
import { createEdgeRouter, createTransitRouter, type SignedEnrollment } from '../../entities/router.ts';
import { createService } from '../../entities/service.ts';
import { associateConfigs } from '../../entities/service-configs.ts';
import { createTerminator } from '../../entities/terminator.ts';
import type { Transaction } from '../../state/transaction.ts';
import type { EntityKind } from '../../state/types.ts';
import type { SeedPath } from './mistake.ts';

export type SectionName =
  | 'authPolicies'
  | 'certificateAuthorities'
  | 'configTypes'
  | 'configs'
  | 'edgeRouterPolicies'
  | 'edgeRouters'
  | 'externalJwtSigners'
  | 'identities'
  | 'postureChecks'
  | 'serviceEdgeRouterPolicies'
  | 'servicePolicies'
  | 'services'
  | 'terminators'
  | 'transitRouters';

export type Entry = Readonly<Record<string, unknown>>;
export type Fields = Record<string, unknown>;

/** Converts `@name` to the id of an entity of the kind; `field` is the place within the entry. */
export type Refer = (kind: EntityKind, value: unknown, field: SeedPath) => unknown;

/** Made before the transaction, because it takes time. */
export interface Prepared {
  readonly passwordHash?: string;
  readonly identityEnrollment?: IdentityEnrollment;
  readonly routerEnrollment?: SignedEnrollment;
}

export interface Section {
  readonly name: SectionName;
  readonly kind: EntityKind;
  /** The kind in messages. */
  readonly word: string;
  /** The type of the body in schemas/api/bodies.json. */
  readonly bodyType: string;
  /** Whether ids are short, as those of the management API. */
  readonly hasShortId?: boolean;
  body(entry: Entry, refer: Refer): Fields;
  create(transaction: Transaction, id: string, body: Body, made: Prepared): void;
  /** Adds the fields that the body cannot contain. */
  complete?(transaction: Transaction, id: string, entry: Entry, refer: Refer, made: Prepared): void;
}

export const SECTIONS: readonly Section[] = [
  {
    name: 'configTypes',
    kind: 'configType',
    word: 'config type',
    bodyType: 'configTypeCreate',
    body: plain,
    create: createConfigType,
  },
  {
    name: 'configs',
    kind: 'config',
    word: 'config',
    bodyType: 'configCreate',
    body: ({ configType, ...entry }, refer) => ({
      ...entry,
      configTypeId: refer('configType', configType, ['configType']),
    }),
    create: createConfig,
  },
  {
    name: 'certificateAuthorities',
    kind: 'ca',
    word: 'certificate authority',
    bodyType: 'caCreate',
    body: (entry) => ({ ...AUTHORITY, ...withoutNulls(entry) }),
    create: (transaction, id, body) => createCa(transaction, id, body, true),
    complete: (transaction, id, { isVerified }) => {
      if (isVerified === true) transaction.patch('ca', id, { isVerified: true });
    },
  },
  {
    name: 'externalJwtSigners',
    kind: 'externalJwtSigner',
    word: 'external JWT signer',
    bodyType: 'externalJwtSignerCreate',
    // The auth policy of its enrollments may be one of the seed, which may refer to the signer: see apply.ts.
    body: ({ enrollAuthPolicyId, enrollToCertEnabled, enrollToTokenEnabled, ...entry }) => entry,
    create: (transaction, id, body) => createSigner(transaction, id, body, true),
  },
  {
    name: 'authPolicies',
    kind: 'authPolicy',
    word: 'auth policy',
    bodyType: 'authPolicyCreate',
    body: authPolicyBody,
    create: createAuthPolicy,
  },
  {
    name: 'services',
    kind: 'service',
    word: 'service',
    bodyType: 'serviceCreate',
    body: (entry, refer) => ({ ...entry, configs: all('config', entry.configs, ['configs'], refer) }),
    create: createService,
  },
  {
    name: 'postureChecks',
    kind: 'postureCheck',
    word: 'posture check',
    bodyType: 'postureCheckCreate',
    body: ({ operatingSystems, ...entry }) => ({
      ...entry,
      ...(Array.isArray(operatingSystems) && {
        operatingSystems: operatingSystems.map((system: Fields) => ({ ...system, versions: system.versions ?? [] })),
      }),
    }),
    create: createPostureCheck,
  },
  {
    name: 'edgeRouters',
    kind: 'router',
    word: 'edge router',
    bodyType: 'edgeRouterCreate',
    hasShortId: true,
    body: routerBody,
    create: (transaction, id, body, { routerEnrollment }) => {
      if (routerEnrollment) createEdgeRouter(transaction, id, body, routerEnrollment);
    },
  },
  {
    name: 'transitRouters',
    kind: 'router',
    word: 'transit router',
    bodyType: 'routerCreate',
    hasShortId: true,
    body: routerBody,
    create: (transaction, id, body, { routerEnrollment }) =>
      createTransitRouter(transaction, id, body, routerEnrollment),
  },
  {
    name: 'identities',
    kind: 'identity',
    word: 'identity',
    bodyType: 'identityCreate',
    hasShortId: true,
    body: identityBody,
    create: createIdentity,
    complete: completeIdentity,
  },
  {
    name: 'servicePolicies',
    kind: 'servicePolicy',
    word: 'service policy',
    bodyType: 'servicePolicyCreate',
    body: (entry, refer) => ({
      ...entry,
      identityRoles: roles('identity', entry.identityRoles, ['identityRoles'], refer),
      serviceRoles: roles('service', entry.serviceRoles, ['serviceRoles'], refer),
      postureCheckRoles: roles('postureCheck', entry.postureCheckRoles, ['postureCheckRoles'], refer),
    }),
    create: createServicePolicy,
  },
  {
    name: 'edgeRouterPolicies',
    kind: 'edgeRouterPolicy',
    word: 'edge router policy',
    bodyType: 'edgeRouterPolicyCreate',
    body: (entry, refer) => ({
      ...entry,
      identityRoles: roles('identity', entry.identityRoles, ['identityRoles'], refer),
      edgeRouterRoles: roles('router', entry.edgeRouterRoles, ['edgeRouterRoles'], refer),
    }),
    create: createEdgeRouterPolicy,
  },
  {
    name: 'serviceEdgeRouterPolicies',
    kind: 'serviceEdgeRouterPolicy',
    word: 'service edge router policy',
    bodyType: 'serviceEdgeRouterPolicyCreate',
    body: (entry, refer) => ({
      ...entry,
      serviceRoles: roles('service', entry.serviceRoles, ['serviceRoles'], refer),
      edgeRouterRoles: roles('router', entry.edgeRouterRoles, ['edgeRouterRoles'], refer),
    }),
    create: createServiceEdgeRouterPolicy,
  },
  {
    name: 'terminators',
    kind: 'terminator',
    word: 'terminator',
    bodyType: 'terminatorCreate',
    body: (entry, refer) => ({
      binding: '',
      ...withoutNulls(entry),
      service: refer('service', entry.service, ['service']),
      router: refer('router', entry.router, ['router']),
    }),
    create: createTerminator,
  },
];

/** An export of the reference has null for an empty list. */
const AUTHORITY = {
  identityRoles: [],
  isAuthEnabled: false,
  isAutoCaEnrollmentEnabled: false,
  isOttCaEnrollmentEnabled: false,
};

function plain(entry: Entry): Fields {
  return { ...entry };
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Ids of all entities in a list of `@name`. */
function all(kind: EntityKind, value: unknown, field: SeedPath, refer: Refer): unknown[] {
  return listOf(value).map((each, index) => refer(kind, each, [...field, index]));
}

/** Selectors of policies: `#attribute` as it is, `@name` as `@id`. */
function roles(kind: EntityKind, value: unknown, field: SeedPath, refer: Refer): unknown[] {
  return listOf(value).map((role, index) =>
    typeof role === 'string' && role.startsWith('@') ? `@${refer(kind, role, [...field, index])}` : role,
  );
}

function routerBody(entry: Entry, refer: Refer): Fields {
  return { ...entry, configs: all('config', entry.configs, ['configs'], refer) };
}

function authPolicyBody(entry: Entry, refer: Refer): Fields {
  const primary = { ...(entry.primary as Fields) };
  const extJwt = { ...(primary.extJwt as Fields) };
  const secondary: Fields = { requireTotp: false, ...withoutNulls(entry.secondary as Entry) };
  const kind = 'externalJwtSigner';
  extJwt.allowedSigners = all(kind, extJwt.allowedSigners, ['primary', 'extJwt', 'allowedSigners'], refer);
  if (secondary.requireExtJwtSigner !== undefined)
    secondary.requireExtJwtSigner = refer(kind, secondary.requireExtJwtSigner, ['secondary', 'requireExtJwtSigner']);
  return { ...entry, primary: { ...primary, extJwt }, secondary };
}

interface ServiceSetting {
  readonly service: unknown;
  readonly cost?: number | null;
  readonly precedence?: string | null;
  readonly configs?: readonly string[] | null;
}

function settingsOf({ serviceSettings }: Entry): readonly ServiceSetting[] {
  return listOf(serviceSettings) as readonly ServiceSetting[];
}

function identityBody(entry: Entry, refer: Refer): Fields {
  const {
    authPolicy,
    serviceSettings: _settings,
    enrollment: _enrollment,
    password: _password,
    ...fields
  } = withoutNulls(entry);
  const settings = settingsOf(entry).map((setting, index) => ({
    ...setting,
    id: String(refer('service', setting.service, ['serviceSettings', index, 'service'])),
  }));
  return {
    isAdmin: false,
    ...fields,
    type: 'Default',
    ...(authPolicy !== undefined && { authPolicyId: refer('authPolicy', authPolicy, ['authPolicy']) }),
    serviceHostingCosts: byService(settings, ({ cost }) => cost),
    serviceHostingPrecedences: byService(settings, ({ precedence }) => precedence),
  };
}

function byService<T extends { readonly id: string }>(settings: readonly T[], field: (setting: T) => unknown): Fields {
  return Object.fromEntries(
    settings.flatMap((setting) => {
      const value = field(setting);
      return value === undefined || value === null ? [] : [[setting.id, value]];
    }),
  );
}

/** The user name of an entry with a password. */
export function usernameOf({ name, username }: Entry): string {
  return String(username ?? name);
}

function completeIdentity(transaction: Transaction, id: string, entry: Entry, refer: Refer, made: Prepared): void {
  const { passwordHash, identityEnrollment } = made;
  const pairs = settingsOf(entry).flatMap(({ service, configs }, index) =>
    (configs ?? []).map((config, each) => ({
      serviceId: String(refer('service', service, ['serviceSettings', index, 'service'])),
      configId: String(refer('config', config, ['serviceSettings', index, 'configs', each])),
    })),
  );
  const identity = transaction.get('identity', id);
  if (identity && pairs.length > 0) associateConfigs(transaction, identity, pairs);
  if (passwordHash !== undefined) {
    const proof = passwordProof(usernameOf(entry), passwordHash);
    addAuthenticator(transaction, { id: transaction.ids.short(), identityId: id, proof });
  }
  if (identityEnrollment) {
    const { ottca } = entry.enrollment as Entry;
    const caId = typeof ottca === 'string' && { caId: String(refer('ca', ottca, ['enrollment', 'ottca'])) };
    addEnrollment(transaction, { ...identityEnrollment, ...caId });
  }
  const current = transaction.get('identity', id);
  if (current && entry.disabled === true) disableIdentity(transaction, current, timeOf(entry.disabledUntil));
}

function timeOf(text: unknown): number | undefined {
  return typeof text === 'string' ? Date.parse(text) : undefined;
}

/** The signer's part that refers to an auth policy; undefined without one. */
export function signerEnrollment(entry: Entry, refer: Refer): Body | undefined {
  const { enrollAuthPolicyId, enrollToCertEnabled, enrollToTokenEnabled } = withoutNulls(entry);
  const fields = withoutNulls({ enrollAuthPolicyId, enrollToCertEnabled, enrollToTokenEnabled });
  if (Object.keys(fields).length === 0) return undefined;
  const isName = typeof enrollAuthPolicyId === 'string' && enrollAuthPolicyId.startsWith('@');
  const policy = isName && { enrollAuthPolicyId: refer('authPolicy', enrollAuthPolicyId, ['enrollAuthPolicyId']) };
  return new Body({ ...fields, ...policy }, 'patch');
}

/** Router identities exist with their routers: the entry sets these fields. */
export function routerIdentityBody(entry: Entry, refer: Refer): Body {
  const { name: _name, typeId: _type, type: _kind, ...fields } = identityBody(entry, refer);
  return new Body(fields, 'patch');
}
