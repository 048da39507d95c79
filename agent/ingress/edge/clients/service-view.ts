// The services that the clients of an identity may use, the policies that grant them and their posture checks, in the
// form that the clients receive. An identity may have thousands: the work is done in steps, between which the caller
// may serve others.

import type { MessageInitShape } from '@bufbuild/protobuf';
import { type PostureDemand, PROMPT_GRACE, type ProcessDemand } from '#model/posture.ts';
import {
  Operation,
  type ServiceChangeSet_PolicySchema,
  ServiceChangeSet_PolicyType,
  type ServiceChangeSet_PostureCheckSchema,
  type ServiceChangeSet_ServiceSchema,
} from '#wire/gen/edge_client_pb.js';
import { type DataState_Identity, type DataState_Service, PolicyType } from '#wire/gen/edge_control_pb.js';
import type { Access } from '../../../access/access.ts';
import type { DataModel, Policy } from '../../../access/data-model.ts';

export interface ServiceViewComponents {
  model: DataModel;
  access: Access;
}

type ServiceInit = MessageInitShape<typeof ServiceChangeSet_ServiceSchema> & { id: string };
type PolicyInit = MessageInitShape<typeof ServiceChangeSet_PolicySchema> & { id: string };
type CheckInit = MessageInitShape<typeof ServiceChangeSet_PostureCheckSchema> & { id: string };
type Change<Entry> = Entry | { id: string; operation: Operation };

/** The services visible to an identity, by id. Clients share it, so it does not change. */
export interface ServiceView {
  /** The position of the data model at which it was begun. */
  readonly index: bigint;
  readonly services: ReadonlyMap<string, ServiceInit>;
  readonly policies: ReadonlyMap<string, PolicyInit>;
  readonly checks: ReadonlyMap<string, CheckInit>;
}

/** Differences between two views. */
export interface ServiceChanges {
  readonly services: readonly Change<ServiceInit>[];
  readonly policies: readonly Change<PolicyInit>[];
  readonly postureChecks: readonly Change<CheckInit>[];
}

export const NO_SERVICES: ServiceView = { index: -1n, services: new Map(), policies: new Map(), checks: new Map() };
/** The timeout of an MFA check that has none. */
const NEVER = -1;
/** Entries that are compared in one step. */
const COMPARED = 16;

/** Number of entries. */
export function sizeOfView({ services, policies, checks }: ServiceView): number {
  return services.size + policies.size + checks.size;
}

/** One step for each service and check. The data model may change between them: the view is then out of date. */
export function* viewOf({ model, access }: ServiceViewComponents, identityId: string): Generator<void, ServiceView> {
  const { index } = model;
  const services = new Map<string, ServiceInit>();
  const policies = new Map<string, PolicyInit>();
  const checks = new Map<string, CheckInit>();
  for (const policy of model.policiesOf(identityId)) {
    let isEmpty = true;
    for (const id of policy.services) {
      const service = model.services.get(id);
      if (!service) continue;
      isEmpty = false;
      const known = services.get(id) ?? serviceInit(model, service, model.identities.get(identityId));
      known.policyIds?.push(policy.id);
      services.set(id, known);
      yield;
    }
    if (isEmpty) continue;
    policies.set(policy.id, policyInit(policy));
    for (const check of access.withChecks(policy).checks) {
      checks.set(check.id, checkInit(check));
      yield;
    }
  }
  for (const service of services.values()) service.policyIds?.sort();
  return { index, services, policies, checks };
}

/** Removed entries carry only their id. */
export function* changesBetween(before: ServiceView, after: ServiceView): Generator<void, ServiceChanges> {
  if (before === after) return { services: [], policies: [], postureChecks: [] };
  return {
    services: yield* changes(before.services, after.services),
    policies: yield* changes(before.policies, after.policies),
    postureChecks: yield* changes(before.checks, after.checks),
  };
}

export function isUnchanged({ services, policies, postureChecks }: ServiceChanges): boolean {
  return services.length + policies.length + postureChecks.length === 0;
}

function* changes<Entry extends { id: string }>(
  before: ReadonlyMap<string, Entry>,
  after: ReadonlyMap<string, Entry>,
): Generator<void, Change<Entry>[]> {
  const changed: Change<Entry>[] = [];
  let compared = 0;
  for (const [id, entry] of after) {
    const known = before.get(id);
    if (!known) changed.push({ ...entry, operation: Operation.ADDED });
    else if (JSON.stringify(known) !== JSON.stringify(entry)) changed.push({ ...entry, operation: Operation.UPDATED });
    if (++compared % COMPARED === 0) yield;
  }
  for (const id of before.keys()) if (!after.has(id)) changed.push({ id, operation: Operation.REMOVED });
  return changed;
}

function serviceInit(
  model: DataModel,
  service: DataState_Service,
  identity: DataState_Identity | undefined,
): ServiceInit {
  const { id, name, encryptionRequired, configs } = service;
  const configData = identity ? model.configDataFor(service, identity) : [];
  return { id, name, encryptionRequired, configs: [...configs], policyIds: [], configData };
}

function policyInit({ id, type, postureChecks }: Policy): PolicyInit {
  const isBind = type === PolicyType.BIND_POLICY;
  return {
    id,
    type: isBind ? ServiceChangeSet_PolicyType.BIND : ServiceChangeSet_PolicyType.DIAL,
    postureCheckIds: [...postureChecks].sort(),
  };
}

/** A process check is sent as a multi-process check that demands all its processes. */
function checkInit({ id, typeId, demands }: PostureDemand): CheckInit {
  switch (typeId) {
    case 'MFA': {
      const { timeoutSeconds, promptOnWake, promptOnUnlock } = demands;
      return {
        id,
        type: 'MFA',
        promptGracePeriodSeconds: PROMPT_GRACE / 1000,
        promptOnWake,
        promptOnUnlock,
        timeoutSeconds: timeoutSeconds > 0 ? timeoutSeconds : NEVER,
      };
    }
    case 'PROCESS':
      return {
        id,
        type: 'PROCESS_MULTI',
        semantic: 'AllOf',
        processes: [processInit(demands.process)],
      };
    case 'PROCESS_MULTI':
      return {
        id,
        type: 'PROCESS_MULTI',
        semantic: demands.semantic,
        processes: demands.processes.map(processInit),
      };
    default:
      return { id, type: typeId };
  }
}

function processInit({ osType, path }: ProcessDemand) {
  return { osType, path };
}
