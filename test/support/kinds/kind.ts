// What a test knows of a kind of entity: bodies that are taken, what is shown of them, what a change leaves alone, what is refused. The kinds
// themselves stand in the files beside this one.

import type { ApiClient } from '../api-client.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** A request that is refused: what is different in the body of the creation, and how; `place` is the field, or words of the cause. */
export type Refusal = readonly [change: Fields, status: number, code: string, place?: string];

export interface Kind {
  readonly path: string;
  /** A body with every field. */
  readonly create: Fields;
  /** What the detail shows of it where that is not the body. */
  readonly shown?: Fields;
  /** Not shown in this form: secrets, and what is turned into something else. */
  readonly hidden?: readonly string[];
  readonly required: readonly string[];
  readonly patch?: Fields;
  /** A body for PUT, and what the detail is afterwards where a field was left out. */
  readonly put?: Fields;
  readonly cleared?: Fields;
  readonly refusals?: readonly Refusal[];
  /** Refused because of the one that is there. */
  readonly conflicts?: readonly Refusal[];
  /** Field of the refusal of a second one with the same name. */
  readonly duplicate?: readonly [field: string, reason: string];
}

export const UNIQUE = ['name', 'name must be unique'] as const;
export const NOTHING = 'there-is-none';
export const TAGS = { place: 'Berlin', on: true, none: null };

/** What the entities below refer to. */
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

export const role = (field: string, store: string): Refusal[] => [
  [{ [field]: ['plain'] }, 400, 'COULD_NOT_VALIDATE', field],
  [{ [field]: [`@${NOTHING}`] }, 400, 'COULD_NOT_VALIDATE', `no ${store} found with the given ids`],
  [{ [field]: ['#all', '#more'] }, 400, 'COULD_NOT_VALIDATE', 'if using #all'],
];

export const attributes: Refusal[] = [
  [{ roleAttributes: ['#a'] }, 400, 'COULD_NOT_VALIDATE', 'roleAttributes'],
  [{ roleAttributes: ['@a'] }, 400, 'COULD_NOT_VALIDATE', 'roleAttributes'],
  [{ roleAttributes: [''] }, 400, 'COULD_NOT_VALIDATE', 'roleAttributes'],
  [{ roleAttributes: 'a' }, 400, 'COULD_NOT_PARSE_BODY'],
];

export const routerCosts: Refusal[] = [
  [{ cost: -1 }, 400, 'COULD_NOT_VALIDATE', 'cost'],
  [{ cost: 65_536 }, 400, 'COULD_NOT_VALIDATE', 'cost'],
  [{ cost: 1.5 }, 400, 'COULD_NOT_PARSE_BODY'],
  [{ configs: [NOTHING] }, 404, 'NOT_FOUND', 'configs with id'],
];
