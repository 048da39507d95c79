// The router's copy of the network's data: identities, services, configurations, policies, keys. A controller sends
// full states and changes (subscription.ts); the tunneler and access decisions read it. Listeners learn that something
// changed, not what: they compare it with their own state.

import { X509Certificate } from 'node:crypto';
import { describeError } from '#lib/errors.ts';
import { parseJson } from '#lib/json/json.ts';
import { ownValue } from '#lib/json/own-value.ts';
import { Listeners } from '#lib/listeners.ts';
import type { Log } from '#lib/log/log.ts';
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
  DataState_PublicKey_Format,
  DataState_PublicKey_Usage,
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

/** Permissions on a service. */
export type Permission = 'dial' | 'bind';

const POLICY_TYPES: Readonly<Record<Permission, PolicyType>> = {
  dial: PolicyType.DIAL_POLICY,
  bind: PolicyType.BIND_POLICY,
};

const NO_BYTES = new Uint8Array();
/** Type of the revocation of an identity. */
export const REVOKED_IDENTITY = 'IDENTITY';

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
  /**
   * Revocations that have not expired and that a full state of the same history lacked. reference fact: a controller
   * that has restarted sends none of the revocations before.
   */
  readonly #earlierRevocations = new Map<string, DataState_Revocation>();
  /** Policies by the identities in them, and services by name. */
  readonly #policiesOf = new Map<string, Set<Policy>>();
  readonly #servicesByName = new Map<string, DataState_Service>();
  #clientRoots: X509Certificate[] | undefined;
  #index = 0n;
  #timeline = '';
  readonly #log: Log;
  readonly #listeners: Listeners<void>;

  constructor(log: Log) {
    this.#log = log;
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

  /**
   * Replaces all data. `wentBack`: the state is older than the previous one, so the history has restarted.
   * @param now Milliseconds; with it, revocations of the same history stay valid until they expire.
   */
  replace(state: DataState, now?: number): { wentBack: boolean } {
    const wentBack = state.endIndex < this.#index;
    const keepsRevocations = now !== undefined && state.timelineId === this.#timeline;
    const earlier = keepsRevocations ? this.allRevocations().filter((each) => remains(each, now)) : [];
    for (const table of this.#tables()) table.clear();
    this.#earlierRevocations.clear();
    this.#policiesOf.clear();
    this.#servicesByName.clear();
    separateBytes(state.events);
    for (const event of state.events) this.#apply(event);
    for (const each of earlier) if (!this.revocations.has(each.id)) this.#earlierRevocations.set(each.id, each);
    this.#index = state.endIndex;
    this.#timeline = state.timelineId;
    this.#notify();
    return { wentBack };
  }

  /** Applies a change set if it follows the previous one. */
  change(set: DataState_ChangeSet): ChangeVerdict {
    if (!set.isSynthetic) {
      if (set.index <= this.#index) return 'outdated';
      if (set.previousIndex > 0n && set.previousIndex !== this.#index) return 'gap';
      this.#index = set.index;
    }
    separateBytes(set.changes);
    for (const event of set.changes) this.#apply(event);
    this.#notify();
    return 'applied';
  }

  /** The revocation of a token, an API session or an identity. */
  revocation(id: string): DataState_Revocation | undefined {
    return this.revocations.get(id) ?? this.#earlierRevocations.get(id);
  }

  /** Also those that the last full state lacked. */
  allRevocations(): DataState_Revocation[] {
    return [...this.#earlierRevocations.values(), ...this.revocations.values()];
  }

  /** Services that an identity may dial or bind, unordered. Does not evaluate posture checks. */
  servicesFor(identityId: string, permission: Permission): DataState_Service[] {
    const ids = new Set<string>();
    for (const policy of this.policiesOf(identityId, permission)) for (const id of policy.services) ids.add(id);
    return [...ids].map((id) => this.services.get(id)).filter((service) => service !== undefined);
  }

  /** Certificates of the authorities that sign client certificates of the network. */
  clientRoots(): X509Certificate[] {
    this.#clientRoots ??= [...this.publicKeys.values()].filter(isClientRoot).flatMap((key) => this.#read(key));
    return this.#clientRoots;
  }

  /** An unreadable certificate is skipped; the others remain valid. */
  #read({ kid, data }: DataState_PublicKey): X509Certificate[] {
    try {
      return [new X509Certificate(data)];
    } catch (error) {
      this.#log.warn({ kid, error: describeError(error) }, 'certificate of an authority cannot be read');
      return [];
    }
  }

  /** The policies of one type, or of both, that contain an identity. */
  policiesOf(identityId: string, permission?: Permission): Policy[] {
    const policies = [...(this.#policiesOf.get(identityId) ?? [])];
    return permission ? policies.filter(({ type }) => type === POLICY_TYPES[permission]) : policies;
  }

  /** The policies of a type that contain an identity and a service. */
  policiesJoining(identityId: string, serviceId: string, permission: Permission): Policy[] {
    return this.policiesOf(identityId, permission).filter(({ services }) => services.has(serviceId));
  }

  serviceByName(name: string): DataState_Service | undefined {
    return this.#servicesByName.get(name);
  }

  /** Configuration data of a service by type name; the identity's overrides replace the service's own. */
  configsFor(service: DataState_Service, identity: DataState_Identity): Map<string, unknown> {
    const data = new Map<string, unknown>();
    for (const { typeName, dataJson } of this.configDataFor(service, identity))
      data.set(typeName, parseConfig(dataJson));
    return data;
  }

  /** As `configsFor`, but unparsed. */
  configDataFor(
    service: DataState_Service,
    identity: DataState_Identity,
  ): { typeId: string; typeName: string; dataJson: string }[] {
    const ids = new Map<string, string>();
    for (const id of service.configs) {
      const config = this.configs.get(id);
      if (config) ids.set(config.typeId, id);
    }
    for (const [typeId, configId] of Object.entries(ownValue(identity.serviceConfigs, service.id)?.configs ?? {}))
      ids.set(typeId, configId);
    return [...ids].flatMap(([typeId, configId]) => {
      const type = this.configTypes.get(typeId);
      const config = this.configs.get(configId);
      return type && config ? [{ typeId, typeName: type.name, dataJson: config.dataJson }] : [];
    });
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

  #notify(): void {
    this.#clientRoots = undefined;
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
        if (action === DataState_Action.DELETE) {
          for (const policy of this.policiesOf(model.value.id)) policy.identities.delete(model.value.id);
          this.#policiesOf.delete(model.value.id);
        }
        return;
      case 'service':
        this.#putService(action, model.value);
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
        this.#earlierRevocations.delete(model.value.id);
        return put(this.revocations, action, model.value);
      default:
    }
  }

  #putService(action: DataState_Action, service: DataState_Service): void {
    const before = this.services.get(service.id);
    if (before && this.#servicesByName.get(before.name) === before) this.#servicesByName.delete(before.name);
    put(this.services, action, service);
    if (action !== DataState_Action.DELETE) this.#servicesByName.set(service.name, service);
  }

  #putPolicy(action: DataState_Action, { id, name, policyType }: DataState_ServicePolicy): void {
    if (action === DataState_Action.DELETE) {
      const gone = this.policies.get(id);
      this.policies.delete(id);
      if (gone) for (const identityId of gone.identities) this.#indexPolicy(gone, identityId, false);
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
      if (members === policy.identities) this.#indexPolicy(policy, id, add);
    }
  }

  #indexPolicy(policy: Policy, identityId: string, add: boolean): void {
    const policies = this.#policiesOf.get(identityId) ?? new Set();
    if (add) policies.add(policy);
    else policies.delete(policy);
    if (policies.size > 0) this.#policiesOf.set(identityId, policies);
    else this.#policiesOf.delete(identityId);
  }
}

/** A revocation of an identity without a time limit would also reject the tokens after its end. */
function remains({ type, issuedBefore, expiresAt }: DataState_Revocation, now: number): boolean {
  const hasExpired = !expiresAt || Number(expiresAt.seconds) * 1_000 <= now;
  return !hasExpired && (type !== REVOKED_IDENTITY || issuedBefore !== undefined);
}

function isClientRoot({ usages, format }: DataState_PublicKey): boolean {
  const { CLIENT_X509_CERT_VALIDATION: forClients } = DataState_PublicKey_Usage;
  return usages.includes(forClients) && format === DataState_PublicKey_Format.X509_CERT_DER;
}

/**
 * Copies the bytes of entities into memory of their own: parts of a decoded message would keep the whole message, which
 * may be the entire network. One block for all: many small ones need more memory than the message.
 */
function separateBytes(events: readonly DataState_Event[]): void {
  const block = new Uint8Array(events.reduce((sum, { model }) => sum + bytesOf(model).length, 0));
  let end = 0;
  const copy = (bytes: Uint8Array) => {
    block.set(bytes, end);
    end += bytes.length;
    return block.subarray(end - bytes.length, end);
  };
  for (const { model } of events) {
    if (bytesOf(model).length === 0) continue;
    if (model.case === 'identity') model.value.appDataJson = copy(model.value.appDataJson);
    else if (model.case === 'publicKey') model.value.data = copy(model.value.data);
  }
}

function bytesOf(model: DataState_Event['model']): Uint8Array {
  if (model.case === 'identity') return model.value.appDataJson;
  return model.case === 'publicKey' ? model.value.data : NO_BYTES;
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

/** Invalid JSON is a mistake of its author; the service then lacks this configuration. */
function parseConfig(json: string): unknown {
  try {
    return parseJson(json);
  } catch {
    return undefined; // the config decoders report it as missing
  }
}
