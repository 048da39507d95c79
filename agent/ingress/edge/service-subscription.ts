// Sends an SDK client the services that its identity may use and the policies that grant them: in full when it
// subscribes, then only changes. Also sends the states of all their posture checks, again in full after each change
// (reference fact: edge, section 9.1).

import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Clock } from '#lib/clock.ts';
import { failingChecks } from '#model/access.ts';
import { evaluatePosture, mfaDeadline, type PostureDemand, PROMPT_GRACE, type ProcessDemand } from '#model/posture.ts';
import {
  Operation,
  type PostureStateChange_CheckStateSchema,
  type PostureStateChange_PolicyStateSchema,
  PostureStateChangeSchema,
  type ServiceChangeSet_PolicySchema,
  ServiceChangeSet_PolicyType,
  type ServiceChangeSet_PostureCheckSchema,
  type ServiceChangeSet_ServiceSchema,
  ServiceChangeSetSchema,
} from '#wire/gen/edge_client_pb.js';
import { type DataState_Service, PolicyType } from '#wire/gen/edge_control_pb.js';
import { SdkType } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import type { Access } from '../../access/access.ts';
import type { DataModel, Policy } from '../../access/data-model.ts';
import type { SdkConnection } from './sdk-connection.ts';

export interface ServiceSubscriptionComponents {
  clock: Clock;
  model: DataModel;
  access: Access;
}

type ServiceInit = MessageInitShape<typeof ServiceChangeSet_ServiceSchema> & { id: string };
type PolicyInit = MessageInitShape<typeof ServiceChangeSet_PolicySchema> & { id: string };
type CheckInit = MessageInitShape<typeof ServiceChangeSet_PostureCheckSchema> & { id: string };
type CheckState = MessageInitShape<typeof PostureStateChange_CheckStateSchema> & { checkId: string };
type PolicyState = MessageInitShape<typeof PostureStateChange_PolicyStateSchema> & { policyId: string };

/** The services visible to a client, by id. */
interface View {
  readonly services: ReadonlyMap<string, ServiceInit>;
  readonly policies: ReadonlyMap<string, PolicyInit>;
  readonly checks: ReadonlyMap<string, CheckInit>;
}

interface States {
  readonly checks: ReadonlyMap<string, CheckState>;
  readonly policies: ReadonlyMap<string, PolicyState>;
}

const NOTHING: View = { services: new Map(), policies: new Map(), checks: new Map() };
const NO_STATES: States = { checks: new Map(), policies: new Map() };
const FULL = -1n;
const NEVER = -1;

export class ServiceSubscription {
  readonly #components: ServiceSubscriptionComponents;
  readonly #connection: SdkConnection;
  #view = NOTHING;
  #states = NO_STATES;
  #index = FULL;
  /** Number of the last message with states; it continues when a client subscribes again. */
  #sequence = 0n;
  #isActive = false;
  /** The client waits for the full state of its services, or of its checks. */
  #due: 'services' | 'checks' | undefined;

  constructor(components: ServiceSubscriptionComponents, connection: SdkConnection) {
    this.#components = components;
    this.#connection = connection;
  }

  /** The next `refresh` sends the full state, later ones the changes. */
  start(): void {
    this.#isActive = true;
    this.#due = 'services';
  }

  stop(): void {
    this.#isActive = false;
    this.#due = undefined;
    this.#view = NOTHING;
    this.#states = NO_STATES;
  }

  /** The next `refresh` sends the state of all checks and policies: the client missed a change. */
  resync(): void {
    if (this.#isActive) this.#due ??= 'checks';
  }

  /**
   * Called after `start` and `resync`, and when the network's data or the client's posture may have changed. Many
   * requests of a client before it get one answer.
   */
  refresh(): void {
    if (!this.#isActive) return;
    const due = this.#due;
    this.#due = undefined;
    if (due === 'services') {
      this.#view = NOTHING;
      this.#index = FULL;
    }
    this.#sendChanges(this.#currentView(), { evenNothing: due === 'services' });
    this.#sendStates({ evenUnchanged: due !== undefined });
  }

  // Visible services -------------------------------------------------------------------------------------------------------

  #currentView(): View {
    const { model } = this.#components;
    const { identityId } = this.#connection.session;
    const services = new Map<string, ServiceInit>();
    const policies = new Map<string, PolicyInit>();
    const checks = new Map<string, CheckInit>();
    for (const policy of model.policiesOf(identityId)) {
      const found = [...policy.services].flatMap((id) => model.services.get(id) ?? []);
      if (found.length === 0) continue;
      policies.set(policy.id, policyInit(policy));
      for (const service of found) {
        const known = services.get(service.id) ?? this.#serviceInit(service);
        known.policyIds?.push(policy.id);
        services.set(service.id, known);
      }
      for (const check of this.#components.access.withChecks(policy).checks) checks.set(check.id, checkInit(check));
    }
    for (const service of services.values()) service.policyIds?.sort();
    return { services, policies, checks };
  }

  #serviceInit(service: DataState_Service): ServiceInit {
    const { model } = this.#components;
    const identity = model.identities.get(this.#connection.session.identityId);
    const { id, name, encryptionRequired, configs } = service;
    const configData = identity ? model.configDataFor(service, identity) : [];
    return { id, name, encryptionRequired, configs: [...configs], policyIds: [], configData };
  }

  /** Removed entries carry only their id. */
  #sendChanges(view: View, { evenNothing }: { evenNothing: boolean }): void {
    const current = this.#components.model.index;
    const before = this.#view;
    this.#view = view;
    const changed = changeSet(before, view);
    if (!evenNothing && isEmpty(changed)) return;
    // Clients drop changes that do not advance the index: the history of the controllers has restarted. They always
    // accept a full state.
    const isFull = this.#index === FULL || current <= this.#index;
    const previousIndex = isFull ? FULL : this.#index;
    this.#index = current;
    const sent = isFull && before !== NOTHING ? changeSet(NOTHING, view) : changed;
    const set = create(ServiceChangeSetSchema, { index: current, previousIndex, ...sent });
    this.#connection.send(new Message(SdkType.ServiceChangeSet, [], toBinary(ServiceChangeSetSchema, set)));
  }

  // State of its checks ----------------------------------------------------------------------------------------------------

  #currentStates(now: number): States {
    const { model, access } = this.#components;
    const { identityId, posture } = this.#connection.subject;
    const checks = new Map<string, CheckState>();
    const policies = new Map<string, PolicyState>();
    for (const policyId of this.#view.policies.keys()) {
      const policy = model.policies.get(policyId);
      if (!policy?.identities.has(identityId)) continue;
      const granting = access.withChecks(policy);
      policies.set(policyId, { policyId, isPassing: failingChecks(granting, posture, now).length === 0 });
      for (const check of granting.checks) {
        const { isPassing, timeoutRemaining } = evaluatePosture(check, posture, now);
        const deadline = check.typeId === 'MFA' ? mfaDeadline(check.demands, posture) : undefined;
        checks.set(check.id, {
          checkId: check.id,
          isPassing,
          ...(deadline !== undefined && {
            timeoutAt: timestampFromMs(deadline),
            timeoutRemainingSeconds: timeoutRemaining,
          }),
        });
      }
    }
    return { checks, policies };
  }

  /** Clients replace their whole state with each message, so a change of one check repeats all others. */
  #sendStates({ evenUnchanged }: { evenUnchanged: boolean }): void {
    const now = this.#components.clock.now();
    const before = this.#states;
    this.#states = this.#currentStates(now);
    if (!evenUnchanged && isSame(before, this.#states)) return;
    const change = create(PostureStateChangeSchema, {
      seq: ++this.#sequence,
      structuralIndex: this.#components.model.index,
      generatedAt: timestampFromMs(now),
      checkStates: [...this.#states.checks.values()],
      policyStates: [...this.#states.policies.values()],
    });
    this.#connection.send(new Message(SdkType.PostureStateChange, [], toBinary(PostureStateChangeSchema, change)));
  }
}

function changeSet(before: View, after: View) {
  return {
    services: changes(before.services, after.services),
    policies: changes(before.policies, after.policies),
    postureChecks: changes(before.checks, after.checks),
  };
}

function isEmpty({ services, policies, postureChecks }: ReturnType<typeof changeSet>): boolean {
  return services.length + policies.length + postureChecks.length === 0;
}

function isSame(before: States, { checks, policies }: States): boolean {
  if (before.checks.size !== checks.size || before.policies.size !== policies.size) return false;
  const isSamePolicy = (each: PolicyState) => before.policies.get(each.policyId)?.isPassing === each.isPassing;
  return (
    [...checks.values()].every((each) => isSameCheck(before.checks.get(each.checkId), each)) &&
    [...policies.values()].every(isSamePolicy)
  );
}

/** The remaining time changes constantly; the expiry time does not, so only that is compared. */
function isSameCheck(before: CheckState | undefined, after: CheckState): boolean {
  return before?.isPassing === after.isPassing && before?.timeoutAt?.seconds === after.timeoutAt?.seconds;
}

function changes<Entry extends { id: string }>(
  before: ReadonlyMap<string, Entry>,
  after: ReadonlyMap<string, Entry>,
): (Entry | { id: string; operation: Operation })[] {
  const changed: (Entry | { id: string; operation: Operation })[] = [];
  for (const [id, entry] of after) {
    const known = before.get(id);
    if (!known) changed.push({ ...entry, operation: Operation.ADDED });
    else if (JSON.stringify(known) !== JSON.stringify(entry)) changed.push({ ...entry, operation: Operation.UPDATED });
  }
  for (const id of before.keys()) if (!after.has(id)) changed.push({ id, operation: Operation.REMOVED });
  return changed;
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
