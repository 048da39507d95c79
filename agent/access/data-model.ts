// The router's copy of the network's data: identities, services, configurations, policies, keys. Fed by full states and changes of
// a controller (subscription.ts), asked by the tunneler and by access decisions. Listeners hear that something changed, not what:
// they compare with what they have.

import { parseJson } from '#lib/json.ts';
import { Listeners } from '#lib/listeners.ts';
import type { Log } from '#lib/log.ts';
import { ownValue } from '#lib/own-value.ts';
import type {
  DataState_Config,
  DataState_ConfigType,
  DataState_Identity,
  DataState_PostureCheck,
  DataState_PublicKey,
  DataState_Revocation,
  DataState_Router,
  DataState_Service,
  DataState_ServicePolicy,
  DataState_ServicePolicyChange,
} from '#wire/gen/edge_control_pb.js';
import {
  type DataState,
  DataState_Action,
  type DataState_ChangeSet,
  type DataState_Event,
  PolicyType,
  ServicePolicyRelatedEntityType,
} from '#wire/gen/edge_control_pb.js';

export interface Policy {
  readonly id: string;
  name: string;
  type: PolicyType;
  readonly services: Set<string>;
  readonly identities: Set<string>;
  readonly postureChecks: Set<string>;
}

export type ChangeVerdict = 'applied' | 'outdated' | 'gap';

/** What may be done with a service. */
export type Permission = 'dial' | 'bind';

const POLICY_TYPES: Readonly<Record<Permission, PolicyType>> = {
  dial: PolicyType.DIAL_POLICY,
  bind: PolicyType.BIND_POLICY,
};

export class DataModel {
  readonly identities = new Map<string, DataState_Identity>();
  readonly services = new Map<string, DataState_Service>();
  readonly configTypes = new Map<string, DataState_ConfigType>();
  readonly configs = new Map<string, DataState_Config>();
  readonly routers = new Map<string, DataState_Router>();
  readonly policies = new Map<string, Policy>();
  readonly postureChecks = new Map<string, DataState_PostureCheck>();
  readonly publicKeys = new Map<string, DataState_PublicKey>();
  readonly revocations = new Map<string, DataState_Revocation>();
  #index = 0n;
  #timeline = '';
  readonly #listeners: Listeners<void>;

  constructor(log: Log) {
    this.#listeners = new Listeners('the data model', log);
  }

  /** Position in the history of changes; 0 before the first full state. */
  get index(): bigint {
    return this.#index;
  }

  get timeline(): string {
    return this.#timeline;
  }

  /** Calls `listener` after each change, until the returned function is called. */
  onChange(listener: () => void): () => void {
    return this.#listeners.add(listener);
  }

  /** Replaces everything. Answers whether this is an older state than the one before: the history began anew. */
  replace(state: DataState): { wentBack: boolean } {
    const wentBack = state.endIndex < this.#index;
    for (const table of this.#tables()) table.clear();
    for (const event of state.events) this.#apply(event);
    this.#index = state.endIndex;
    this.#timeline = state.timelineId;
    this.#tell();
    return { wentBack };
  }

  /** Applies one change set, if it follows the last one. */
  change(set: DataState_ChangeSet): ChangeVerdict {
    if (!set.isSynthetic) {
      if (set.index <= this.#index) return 'outdated';
      if (set.previousIndex > 0n && set.previousIndex !== this.#index) return 'gap';
      this.#index = set.index;
    }
    for (const event of set.changes) this.#apply(event);
    this.#tell();
    return 'applied';
  }

  /** Services that an identity may use in a way, in no order. Posture checks are not looked at here. */
  servicesFor(identityId: string, permission: Permission): DataState_Service[] {
    const ids = new Set<string>();
    for (const policy of this.policies.values()) {
      if (policy.type === POLICY_TYPES[permission] && policy.identities.has(identityId))
        for (const id of policy.services) ids.add(id);
    }
    return [...ids].map((id) => this.services.get(id)).filter((service) => service !== undefined);
  }

  serviceByName(name: string): DataState_Service | undefined {
    for (const service of this.services.values()) if (service.name === name) return service;
    return undefined;
  }

  /** Configuration data of a service by the name of its type; those that the identity overrides replace the service's own. */
  configsFor(service: DataState_Service, identity: DataState_Identity): Map<string, unknown> {
    const ids = new Map<string, string>();
    for (const id of service.configs) {
      const config = this.configs.get(id);
      if (config) ids.set(config.typeId, id);
    }
    for (const [typeId, configId] of Object.entries(ownValue(identity.serviceConfigs, service.id)?.configs ?? {}))
      ids.set(typeId, configId);
    const data = new Map<string, unknown>();
    for (const [typeId, configId] of ids) {
      const type = this.configTypes.get(typeId);
      const config = this.configs.get(configId);
      if (type && config) data.set(type.name, parseConfig(config.dataJson));
    }
    return data;
  }

  #tables(): Map<string, unknown>[] {
    return [
      this.identities,
      this.services,
      this.configTypes,
      this.configs,
      this.routers,
      this.policies,
      this.postureChecks,
      this.publicKeys,
      this.revocations,
    ];
  }

  #tell(): void {
    this.#listeners.call();
  }

  #apply({ action, model }: DataState_Event): void {
    switch (model.case) {
      case 'configType':
        return put(this.configTypes, action, model.value);
      case 'config':
        return put(this.configs, action, model.value);
      case 'identity':
        put(this.identities, action, model.value);
        if (action === DataState_Action.DELETE)
          for (const policy of this.policies.values()) policy.identities.delete(model.value.id);
        return;
      case 'service':
        put(this.services, action, model.value);
        if (action === DataState_Action.DELETE)
          for (const policy of this.policies.values()) policy.services.delete(model.value.id);
        return;
      case 'router':
        return put(this.routers, action, model.value);
      case 'postureCheck':
        put(this.postureChecks, action, model.value);
        if (action === DataState_Action.DELETE)
          for (const policy of this.policies.values()) policy.postureChecks.delete(model.value.id);
        return;
      case 'servicePolicy':
        return this.#putPolicy(action, model.value);
      case 'servicePolicyChange':
        return this.#changePolicy(model.value);
      case 'publicKey':
        if (action === DataState_Action.DELETE) this.publicKeys.delete(model.value.kid);
        else this.publicKeys.set(model.value.kid, model.value);
        return;
      case 'revocation':
        return put(this.revocations, action, model.value);
      default:
    }
  }

  #putPolicy(action: DataState_Action, { id, name, policyType }: DataState_ServicePolicy): void {
    if (action === DataState_Action.DELETE) {
      this.policies.delete(id);
      return;
    }
    const known = this.policies.get(id);
    if (known) Object.assign(known, { name, type: policyType });
    else
      this.policies.set(id, {
        id,
        name,
        type: policyType,
        services: new Set(),
        identities: new Set(),
        postureChecks: new Set(),
      });
  }

  #changePolicy({ policyId, relatedEntityIds, relatedEntityType, add }: DataState_ServicePolicyChange): void {
    const policy = this.policies.get(policyId);
    const members = policy && membersOf(policy, relatedEntityType);
    if (!members) return;
    for (const id of relatedEntityIds) {
      if (add) members.add(id);
      else members.delete(id);
    }
  }
}

function membersOf(policy: Policy, type: ServicePolicyRelatedEntityType): Set<string> | undefined {
  switch (type) {
    case ServicePolicyRelatedEntityType.RELATED_SERVICE:
      return policy.services;
    case ServicePolicyRelatedEntityType.RELATED_IDENTITY:
      return policy.identities;
    case ServicePolicyRelatedEntityType.RELATED_POSTURE_CHECK:
      return policy.postureChecks;
    default:
      return undefined;
  }
}

function put<T extends { id: string }>(table: Map<string, T>, action: DataState_Action, entity: T): void {
  if (action === DataState_Action.DELETE) table.delete(entity.id);
  else table.set(entity.id, entity);
}

/** Data that is no JSON is a mistake of who wrote it; the service is then one without this configuration. */
function parseConfig(json: string): unknown {
  try {
    return parseJson(json);
  } catch {
    return undefined; // the config decoders say that it is missing
  }
}
