// The router data model in the form of the inspection `router-data-model`, without the data of public keys.

import { ProjectError } from '#lib/errors.ts';
import { DataState_PublicKey_Usage, PolicyType } from '#wire/gen/edge_control_pb.js';
import type { DataModel, Permission, Policy } from './data-model.ts';

type Inspected = Record<string, unknown>;
/** Counts the policies that grant an identity each of its services. */
type CountServices = (identityId: string) => Record<string, Record<Permission, number>>;

/**
 * Limit on services of all identities together: a policy for all identities and all services makes their product. More
 * exceed the limit on the characters of an answer, and would take the memory of the router.
 */
const MAX_SERVICES = 1_000_000;

/** @throws ProjectError if the network is too large for an answer */
export function inspectModel(model: DataModel): Record<string, Inspected> {
  const policiesOfService = policiesByService(model);
  const countServices = serviceCounter(model);
  return {
    configTypes: inspectAll(model.configTypes, ({ id, name }) => ({ id, name })),
    configs: inspectAll(model.configs, ({ id, name, typeId, dataJson }) => ({ id, name, typeId, dataJson })),
    identities: inspectAll(model.identities, (identity) => {
      const { id, name, disabled, appDataJson, defaultHostingPrecedence, defaultHostingCost } = identity;
      return {
        id,
        name,
        disabled,
        appDataJson: Buffer.from(appDataJson).toString('utf8'),
        defaultHostingPrecedence,
        defaultHostingCost,
        serviceHostingPrecedences: identity.serviceHostingPrecedences,
        serviceHostingCosts: identity.serviceHostingCosts,
        serviceConfigs: identity.serviceConfigs,
        servicePolicies: model.policiesOf(id).map((policy) => policy.id),
        services: countServices(id),
      };
    }),
    services: inspectAll(model.services, ({ id, name, encryptionRequired, configs }) => ({
      id,
      name,
      encryptionRequired,
      configs,
      servicePolicies: policiesOfService.get(id) ?? [],
    })),
    routers: inspectAll(model.routers, ({ id, name, fingerprint, disabled }) => ({ id, name, fingerprint, disabled })),
    servicePolicies: inspectAll(model.policies, inspectPolicy),
    postureChecks: inspectAll(model.postureChecks, ({ id, name, typeId }) => ({ id, name, typeId })),
    publicKeys: inspectAll(model.publicKeys, ({ kid, usages, format }) => ({
      kid,
      usages: usages.map((usage) => DataState_PublicKey_Usage[usage]),
      format,
    })),
    revocations: inspectAll(model.revocations, ({ id, expiresAt }) => ({
      id,
      expiresAt: Number(expiresAt?.seconds ?? 0n),
    })),
  };
}

function inspectPolicy({ id, name, type, services, postureChecks, identities }: Policy): Inspected {
  return {
    id,
    name,
    policyType: type === PolicyType.DIAL_POLICY ? 'DialPolicy' : 'BindPolicy',
    services: [...services],
    postureChecks: [...postureChecks],
    identities: [...identities],
  };
}

/** Ids of the policies of each service. */
function policiesByService({ policies }: DataModel): Map<string, string[]> {
  const byService = new Map<string, string[]>();
  for (const { id, services } of policies.values())
    for (const serviceId of services) {
      const known = byService.get(serviceId);
      if (known) known.push(id);
      else byService.set(serviceId, [id]);
    }
  return byService;
}

function serviceCounter(model: DataModel): CountServices {
  let room = MAX_SERVICES;
  return (identityId) => {
    const counts = new Map<string, Record<Permission, number>>();
    for (const permission of ['dial', 'bind'] as const)
      for (const { services } of model.policiesOf(identityId, permission))
        for (const id of services) {
          const known = counts.get(id);
          if (!known && room-- === 0)
            throw new ProjectError('TOO_LARGE', `the identities have more than ${MAX_SERVICES} services together`);
          const count = known ?? { dial: 0, bind: 0 };
          count[permission]++;
          counts.set(id, count);
        }
    return Object.fromEntries(counts);
  };
}

function inspectAll<T>(table: ReadonlyMap<string, T>, show: (entity: T) => Inspected): Inspected {
  return Object.fromEntries([...table].map(([id, entity]) => [id, show(entity)]));
}
