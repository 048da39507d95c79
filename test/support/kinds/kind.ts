// Describes a kind of entity for tests: accepted bodies, the resulting answers, immutable fields, and rejections. The
// files beside this one describe the kinds.

import type { ApiClient } from '../clients/api-client.ts';

export type Fields = Readonly<Record<string, unknown>>;

/**
 * A rejected request: a change in the body of the creation, with status and code; `place` is the field, or a part of
 * the cause.
 */
export type Rejection = readonly [change: Fields, status: number, code: string, place?: string];

export interface Kind {
  readonly path: string;
  /** A body with every field. */
  readonly create: Fields;
  /** Fields of the detail that differ from the body. */
  readonly expected?: Fields;
  /** Fields that the detail omits or converts: secrets, for example. */
  readonly hidden?: readonly string[];
  readonly required: readonly string[];
  readonly patch?: Fields;
  /** A body for PUT, and the resulting detail where a field is missing. */
  readonly put?: Fields;
  readonly cleared?: Fields;
  readonly rejections?: readonly Rejection[];
  /** Rejected because of the existing entity. */
  readonly conflicts?: readonly Rejection[];
  /** Field in the rejection of a second entity with the same name. */
  readonly duplicate?: readonly [field: string, reason: string];
}

export const UNIQUE = ['name', 'name must be unique'] as const;
export const NOTHING = 'there-is-none';
export const TAGS = { place: 'Berlin', on: true, none: null };

/** Ids of entities that the kinds below refer to. */
export interface Known {
  readonly identity: string;
  readonly service: string;
  readonly edgeRouter: string;
  readonly configType: string;
  readonly config: string;
  readonly routerConfig: string;
  readonly postureCheck: string;
  readonly authPolicy: string;
  readonly signer: string;
}

export async function known(api: ApiClient): Promise<Known> {
  const configType = await api.create('/config-types', {
    name: 'known',
    schema: {
      type: 'object',
      properties: { port: { type: 'integer' } },
      required: ['port'],
      additionalProperties: false,
    },
  });
  const routerConfig = await api.create('/configs', {
    name: 'for routers',
    configTypeId: 'router.link.v1',
    data: {},
  });
  const signer = await api.create('/external-jwt-signers', {
    name: 'known',
    issuer: 'https://known',
    audience: 'a',
    enabled: true,
    jwksEndpoint: 'https://known/keys',
  });
  return {
    configType,
    routerConfig,
    signer,
    identity: await api.create('/identities', { name: 'known', type: 'User', isAdmin: false }),
    service: await api.create('/services', { name: 'known', encryptionRequired: true }),
    edgeRouter: await api.create('/edge-routers', { name: 'known router' }),
    config: await api.create('/configs', { name: 'known', configTypeId: configType, data: { port: 1 } }),
    postureCheck: await api.create('/posture-checks', { name: 'known', typeId: 'DOMAIN', domains: ['a'] }),
    authPolicy: await api.create('/auth-policies', { name: 'known', ...LOGINS }),
  };
}

export const UPDB = {
  allowed: true,
  minPasswordLength: 7,
  maxAttempts: 3,
  lockoutDurationMinutes: 9,
  requireMixedCase: true,
  requireNumberChar: true,
  requireSpecialChar: true,
};
export const LOGINS = {
  primary: {
    cert: { allowed: true, allowExpiredCerts: false },
    extJwt: { allowed: false, allowedSigners: [] },
    updb: UPDB,
  },
  secondary: { requireTotp: false },
};

export const role = (field: string, store: string): Rejection[] => [
  [{ [field]: ['plain'] }, 400, 'COULD_NOT_VALIDATE', field],
  [{ [field]: [`@${NOTHING}`] }, 400, 'COULD_NOT_VALIDATE', `no ${store} found with the given ids`],
  [{ [field]: ['#all', '#more'] }, 400, 'COULD_NOT_VALIDATE', 'if using #all'],
];

export const attributes: Rejection[] = [
  [{ roleAttributes: ['#a'] }, 400, 'COULD_NOT_VALIDATE', 'roleAttributes'],
  [{ roleAttributes: ['@a'] }, 400, 'COULD_NOT_VALIDATE', 'roleAttributes'],
  [{ roleAttributes: [''] }, 400, 'COULD_NOT_VALIDATE', 'roleAttributes'],
  [{ roleAttributes: 'a' }, 400, 'COULD_NOT_PARSE_BODY'],
];

export const routerCosts: Rejection[] = [
  [{ cost: -1 }, 400, 'COULD_NOT_VALIDATE', 'cost'],
  [{ cost: 65_536 }, 400, 'COULD_NOT_VALIDATE', 'cost'],
  [{ cost: 1.5 }, 400, 'COULD_NOT_PARSE_BODY'],
  [{ configs: [NOTHING] }, 404, 'NOT_FOUND', 'configs with id'],
];
