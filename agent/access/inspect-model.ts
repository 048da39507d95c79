// The router data model in the form of the inspection `router-data-model`. Data of public keys is left out.

import { DataState_PublicKey_Usage, PolicyType } from '#wire/gen/edge_control_pb.js';
import type { DataModel, Permission, Policy } from './data-model.ts';

type Shown = Record<string, unknown>;

export function inspectModel(model: DataModel): Record<string, Shown> {
  const policies = [...model.policies.values()];
  return {
    configTypes: shown(model.configTypes, ({ id, name }) => ({ id, name })),
    configs: shown(model.configs, ({ id, name, typeId, dataJson }) => ({ id, name, typeId, dataJson })),
    identities: shown(model.identities, (identity) => {
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
        services: serviceCounts(model, id),
      };
    }),
    services: shown(model.services, ({ id, name, encryptionRequired, configs }) => ({
      id,
      name,
      encryptionRequired,
      configs,
      servicePolicies: policies.filter(({ services }) => services.has(id)).map((policy) => policy.id),
    })),
    routers: shown(model.routers, ({ id, name, fingerprint, disabled }) => ({ id, name, fingerprint, disabled })),
    servicePolicies: shown(model.policies, inspectPolicy),
    postureChecks: shown(model.postureChecks, ({ id, name, typeId }) => ({ id, name, typeId })),
    publicKeys: shown(model.publicKeys, ({ kid, usages, format }) => ({
      kid,
      usages: usages.map((usage) => DataState_PublicKey_Usage[usage]),
      format,
    })),
    revocations: shown(model.revocations, ({ id, expiresAt }) => ({ id, expiresAt: Number(expiresAt?.seconds ?? 0n) })),
  };
}

function inspectPolicy({ id, name, type, services, postureChecks, identities }: Policy): Shown {
  return {
    id,
    name,
    policyType: type === PolicyType.DIAL_POLICY ? 'DialPolicy' : 'BindPolicy',
    services: [...services],
    postureChecks: [...postureChecks],
    identities: [...identities],
  };
}

/** How many policies give an identity each of its services. */
function serviceCounts(model: DataModel, identityId: string): Record<string, Record<Permission, number>> {
  const counts: Record<string, Record<Permission, number>> = {};
  for (const permission of ['dial', 'bind'] as const)
    for (const { services } of model.policiesOf(identityId, permission))
      for (const id of services) {
        counts[id] ??= { dial: 0, bind: 0 };
        counts[id][permission]++;
      }
  return counts;
}

function shown<T>(table: ReadonlyMap<string, T>, show: (entity: T) => Shown): Shown {
  return Object.fromEntries([...table].map(([id, entity]) => [id, show(entity)]));
}
