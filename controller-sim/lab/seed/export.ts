// Exports a network as a seed: sorted, without secrets, and without what every network has. Credentials, sessions,
// enrollments and the terminators of hosts are left out.

import { withoutNulls } from '#lib/without-nulls.ts';
import { builtInConfigTypes } from '../../entities/built-in.ts';
import { isDisabled } from '../../entities/identity.ts';
import { isHosted } from '../../state/kinds/terminator.ts';
import type { Table } from '../../state/table.ts';
import type { Tables } from '../../state/tables.ts';
import type { Identity, Named, PostureCheck, Router, Terminator } from '../../state/types.ts';
import type { Entry, Fields, SectionName } from './sections.ts';

export type SeedDocument = Partial<Readonly<Record<SectionName, readonly Entry[]>>>;

const BUILT_IN = new Set(
  builtInConfigTypes((id) => ({ id, createdAt: '', updatedAt: '', tags: {}, isSystem: true })).map(({ id }) => id),
);

/** Every section, in the order of their names. `now` in milliseconds. */
export function exportNetwork(tables: Tables, now: number): SeedDocument {
  const names = new Names(tables);
  return {
    authPolicies: section(
      tables.authPolicy,
      ({ isSystem }) => !isSystem,
      ({ primary, secondary }) => ({
        primary: {
          ...primary,
          extJwt: { ...primary.extJwt, allowedSigners: names.all('externalJwtSigner', primary.extJwt.allowedSigners) },
        },
        secondary: {
          requireTotp: secondary.requireTotp,
          ...(secondary.requireExtJwtSigner !== null && {
            requireExtJwtSigner: names.one('externalJwtSigner', secondary.requireExtJwtSigner),
          }),
        },
      }),
    ),
    certificateAuthorities: section(tables.ca, always, (ca) => ({
      certPem: ca.certPem,
      externalIdClaim: ca.externalIdClaim,
      identityNameFormat: ca.identityNameFormat,
      identityRoles: ca.identityRoles,
      isAuthEnabled: ca.isAuthEnabled,
      isAutoCaEnrollmentEnabled: ca.isAutoCaEnrollmentEnabled,
      isOttCaEnrollmentEnabled: ca.isOttCaEnrollmentEnabled,
      isVerified: ca.isVerified,
    })),
    configTypes: section(
      tables.configType,
      ({ id }) => !BUILT_IN.has(id),
      ({ schema, target }) => ({ schema, target }),
    ),
    configs: section(tables.config, always, ({ configTypeId, data }) => ({
      configType: names.one('configType', configTypeId),
      data,
    })),
    edgeRouterPolicies: section(
      tables.edgeRouterPolicy,
      ({ isSystem }) => !isSystem,
      (policy) => ({
        edgeRouterRoles: names.roles('router', policy.edgeRouterRoles),
        identityRoles: names.roles('identity', policy.identityRoles),
        semantic: policy.semantic,
      }),
    ),
    edgeRouters: section(
      tables.router,
      ({ isEdge }) => isEdge,
      (router) => ({
        ...commonRouter(router, names),
        ...filled({ appData: router.appData }),
        isTunnelerEnabled: router.isTunnelerEnabled,
        roleAttributes: router.roleAttributes,
      }),
    ),
    externalJwtSigners: section(tables.externalJwtSigner, always, (signer) => ({
      audience: signer.audience,
      certPem: signer.certPem,
      claimsProperty: signer.claimsProperty,
      clientId: signer.clientId,
      enabled: signer.enabled,
      enrollAttributeClaimsSelector: signer.enrollAttributeClaimsSelector || null,
      // As the reference writes it; every network has this policy under this id.
      enrollAuthPolicyId:
        signer.enrollAuthPolicyId === 'default' ? 'default' : names.one('authPolicy', signer.enrollAuthPolicyId),
      enrollNameClaimsSelector: signer.enrollNameClaimsSelector,
      enrollToCertEnabled: signer.enrollToCertEnabled,
      enrollToTokenEnabled: signer.enrollToTokenEnabled,
      externalAuthUrl: signer.externalAuthUrl,
      issuer: signer.issuer,
      jwksEndpoint: signer.jwksEndpoint,
      kid: signer.kid,
      scopes: signer.scopes,
      targetToken: signer.targetToken,
      useExternalId: signer.useExternalId,
    })),
    identities: section(
      tables.identity,
      ({ isDefaultAdmin }) => !isDefaultAdmin,
      (identity) => identityEntry(identity, names, now),
    ),
    postureChecks: section(tables.postureCheck, always, (check) => ({
      roleAttributes: check.roleAttributes,
      typeId: check.typeId,
      ...demands(check),
    })),
    serviceEdgeRouterPolicies: section(tables.serviceEdgeRouterPolicy, always, (policy) => ({
      edgeRouterRoles: names.roles('router', policy.edgeRouterRoles),
      semantic: policy.semantic,
      serviceRoles: names.roles('service', policy.serviceRoles),
    })),
    servicePolicies: section(tables.servicePolicy, always, (policy) => ({
      identityRoles: names.roles('identity', policy.identityRoles),
      postureCheckRoles: names.roles('postureCheck', policy.postureCheckRoles),
      semantic: policy.semantic,
      serviceRoles: names.roles('service', policy.serviceRoles),
      type: policy.type,
    })),
    services: section(
      tables.service,
      ({ isFabricOnly }) => !isFabricOnly,
      (service) => ({
        configs: names.all('config', service.configs),
        encryptionRequired: service.encryptionRequired,
        ...filled({ maxIdleTimeMillis: service.maxIdleTimeMillis }),
        roleAttributes: service.roleAttributes,
        terminatorStrategy: service.terminatorStrategy,
      }),
    ),
    terminators: terminators(tables, names),
    transitRouters: section(
      tables.router,
      ({ isEdge }) => !isEdge,
      (router) => commonRouter(router, names),
    ),
  };
}

const always = () => true;

function section<T extends Named>(
  table: Table<T>,
  includes: (entity: T) => boolean,
  fields: (entity: T) => Fields,
): Entry[] {
  return [...table.values()]
    .filter(includes)
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map((entity) => entry({ name: entity.name, ...filled({ tags: entity.tags }), ...fields(entity) }));
}

/** The fields without nulls. */
function entry(fields: Fields): Entry {
  return sorted(withoutNulls(fields)) as Entry;
}

/** Maps in the order of their keys, on all levels: the depth of stored JSON is limited. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, each]) => [key, sorted(each)]),
  );
}

/** Only the fields that are not empty, false or zero. */
function filled(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => !isEmpty(value)));
}

function isEmpty(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0;
  return !value;
}

/** The names of entities, as `@name`. */
class Names {
  readonly #tables: Tables;

  constructor(tables: Tables) {
    this.#tables = tables;
  }

  one(kind: keyof Tables, id: string): string | null {
    const entity = this.#tables[kind].get(id) as Partial<Named> | undefined;
    return entity?.name === undefined ? null : `@${entity.name}`;
  }

  /** Sorted. */
  all(kind: keyof Tables, ids: readonly string[]): string[] {
    return ids.flatMap((id) => this.one(kind, id) ?? []).sort();
  }

  /** Sorted: `#` before `@`. */
  roles(kind: keyof Tables, roles: readonly string[]): string[] {
    return roles.flatMap((role) => (role.startsWith('@') ? (this.one(kind, role.slice(1)) ?? []) : role)).sort();
  }
}

function commonRouter(router: Router, names: Names): Fields {
  const { cost, noTraversal, disabled, configs, ctrlChanListeners } = router;
  return {
    disabled,
    noTraversal,
    ...filled({ cost, configs: names.all('config', configs), ctrlChanListeners: ctrlChanListeners ?? {} }),
  };
}

function identityEntry(identity: Identity, names: Names, now: number): Fields {
  const { appData, externalId, permissions, defaultHostingCost, defaultHostingPrecedence, disabledUntil } = identity;
  const disabled = isDisabled(identity, now);
  return {
    authPolicy: names.one('authPolicy', identity.authPolicyId),
    disabled,
    disabledUntil: disabled ? disabledUntil : null,
    externalId,
    isAdmin: identity.isAdmin,
    roleAttributes: identity.roleAttributes,
    typeId: identity.type,
    ...filled({ appData, permissions, defaultHostingCost, serviceSettings: settings(identity, names) }),
    ...(defaultHostingPrecedence !== 'default' && { defaultHostingPrecedence }),
  };
}

function settings(identity: Identity, names: Names): Entry[] {
  const { serviceHostingCosts: costs, serviceHostingPrecedences: precedences, serviceConfigs } = identity;
  const ids = new Set([costs, precedences, serviceConfigs].flatMap((map) => Object.keys(map)));
  return [...ids]
    .flatMap((id): Entry[] => {
      const service = names.one('service', id);
      if (service === null) return []; // of a deleted service
      const configs = names.all('config', serviceConfigs[id] ?? []);
      return [entry({ service, cost: costs[id], precedence: precedences[id], ...filled({ configs }) })];
    })
    .sort((a, b) => (String(a.service) < String(b.service) ? -1 : 1));
}

/** Without flags that are off, as the reference writes them. */
function demands(check: PostureCheck): Fields {
  if (check.typeId === 'PROCESS') return { process: filled(check.demands.process as unknown as Fields) };
  if (check.typeId === 'MFA') return filled(check.demands as unknown as Fields);
  return { ...check.demands };
}

function terminators(tables: Tables, names: Names): Entry[] {
  return [...tables.terminator.values()]
    .filter((each) => !isHosted(each) && tables.service.get(each.serviceId)?.isFabricOnly === false)
    .map((terminator) => entry(terminatorFields(terminator, names)))
    .sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

function terminatorFields(
  { address, binding, cost, precedence, instanceId, ...ids }: Terminator,
  names: Names,
): Fields {
  return {
    address,
    binding,
    service: names.one('service', ids.serviceId),
    router: names.one('router', ids.routerId),
    ...filled({ cost, identity: instanceId, tags: ids.tags }),
    ...(precedence !== 'default' && { precedence }),
  };
}
