// Sends an SDK client the services that its identity may use and the policies that grant them: in full when it
// subscribes, then only changes. Also sends the states of all their posture checks, again in full after each change
// (reference fact: edge, section 9.1).

import { create, type DescMessage, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Clock } from '#lib/time/clock.ts';
import { failingChecks } from '#model/access.ts';
import { evaluatePosture, mfaDeadline } from '#model/posture.ts';
import {
  type PostureStateChange_CheckStateSchema,
  type PostureStateChange_PolicyStateSchema,
  PostureStateChangeSchema,
  ServiceChangeSetSchema,
} from '#wire/gen/edge_client_pb.js';
import { SdkType } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import type { IdentityWork } from './identity-work.ts';
import type { SdkConnection } from './sdk-connection.ts';
import {
  changesBetween,
  isUnchanged,
  NO_SERVICES,
  type ServiceView,
  type ServiceViewComponents,
} from './service-view.ts';

export interface ServiceSubscriptionComponents extends ServiceViewComponents {
  clock: Clock;
}

type CheckState = MessageInitShape<typeof PostureStateChange_CheckStateSchema> & { checkId: string };
type PolicyState = MessageInitShape<typeof PostureStateChange_PolicyStateSchema> & { policyId: string };

interface States {
  readonly checks: ReadonlyMap<string, CheckState>;
  readonly policies: ReadonlyMap<string, PolicyState>;
}

const NO_STATES: States = { checks: new Map(), policies: new Map() };
const FULL = -1n;
/** Entries of a message that are encoded in one step. */
const ENCODED = 16;
/** Bytes of a message that cost as much work as an entry. */
const BYTES_OF_ENTRY = 256;

export class ServiceSubscription {
  readonly #components: ServiceSubscriptionComponents;
  readonly #connection: SdkConnection;
  readonly #work: IdentityWork;
  #view = NO_SERVICES;
  #states = NO_STATES;
  #index = FULL;
  /** Number of the last message with states; it continues when a client subscribes again. */
  #sequence = 0n;
  #isActive = false;
  /** Counts subscriptions and their ends: a refresh in progress stops with each. */
  #epoch = 0;
  /** The client waits for the full state of its services, or of its checks. */
  #due: 'services' | 'checks' | undefined;

  /** The clients of an identity share `work`. */
  constructor(components: ServiceSubscriptionComponents, connection: SdkConnection, work: IdentityWork) {
    this.#components = components;
    this.#connection = connection;
    this.#work = work;
  }

  /** The work of the next `refresh`, in entries. */
  get cost(): number {
    if (!this.#isActive) return 0;
    const states = this.#view.policies.size + this.#view.checks.size;
    return this.#due === 'services' ? this.#work.size + states + this.#work.fullBytes / BYTES_OF_ENTRY : states;
  }

  /** The next `refresh` sends the full state, later ones the changes. */
  start(): void {
    this.#epoch++;
    this.#isActive = true;
    this.#due = 'services';
  }

  stop(): void {
    this.#epoch++;
    this.#isActive = false;
    this.#due = undefined;
    this.#view = NO_SERVICES;
    this.#states = NO_STATES;
  }

  /** The next `refresh` sends the state of all checks and policies: the client missed a change. */
  resync(): void {
    if (this.#isActive) this.#due ??= 'checks';
  }

  /**
   * Called after `start` and `resync`, and when the network's data or the client's posture may have changed. Many
   * requests of a client before it get one answer. The caller may serve others between the steps. A request that
   * arrives meanwhile needs another refresh.
   */
  *refresh(): Generator<void> {
    if (!this.#isActive) return;
    const epoch = this.#epoch;
    const due = this.#due;
    this.#due = undefined;
    if (due === 'services') {
      this.#view = NO_SERVICES;
      this.#index = FULL;
    }
    const view = yield* this.#work.view();
    if (epoch !== this.#epoch) return;
    yield* this.#sendChanges(view, { epoch, evenNothing: due === 'services' });
    if (epoch !== this.#epoch) return;
    yield* this.#sendStates({ epoch, evenUnchanged: due !== undefined });
  }

  // Visible services --------------------------------------------------------------------------------------------------

  *#sendChanges(view: ServiceView, { epoch, evenNothing }: { epoch: number; evenNothing: boolean }): Generator<void> {
    const before = this.#view;
    const changed = yield* changesBetween(before, view);
    if (epoch !== this.#epoch) return;
    this.#view = view;
    if (!evenNothing && isUnchanged(changed)) return;
    // Clients drop changes that do not advance the index: the history of the controllers has restarted. They always
    // accept a full state.
    const isFull = this.#index === FULL || view.index <= this.#index;
    const previousIndex = isFull ? FULL : this.#index;
    this.#index = view.index;
    const sent = isFull && before !== NO_SERVICES ? yield* changesBetween(NO_SERVICES, view) : changed;
    const { index } = view;
    const body = yield* encoded(ServiceChangeSetSchema, { index, previousIndex }, { ...sent });
    if (epoch !== this.#epoch) return;
    if (isFull) this.#work.fullBytes = body.length;
    this.#connection.send(new Message(SdkType.ServiceChangeSet, [], body));
  }

  // State of its checks -----------------------------------------------------------------------------------------------

  *#currentStates(now: number): Generator<void, States> {
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
      yield;
    }
    return { checks, policies };
  }

  /** Clients replace their whole state with each message, so a change of one check repeats all others. */
  *#sendStates({ epoch, evenUnchanged }: { epoch: number; evenUnchanged: boolean }): Generator<void> {
    const now = this.#components.clock.now();
    const before = this.#states;
    const { index } = this.#components.model;
    const states = yield* this.#currentStates(now);
    if (epoch !== this.#epoch) return;
    this.#states = states;
    if (!evenUnchanged && isSame(before, states)) return;
    const head = { seq: ++this.#sequence, structuralIndex: index, generatedAt: timestampFromMs(now) };
    const lists = { checkStates: [...states.checks.values()], policyStates: [...states.policies.values()] };
    const body = yield* encoded(PostureStateChangeSchema, head, lists);
    if (epoch === this.#epoch) this.#connection.send(new Message(SdkType.PostureStateChange, [], body));
  }
}

/** Encodes a message with long lists in steps: the parts of a list may be encoded one after another. */
function* encoded<Schema extends DescMessage>(
  schema: Schema,
  head: MessageInitShape<Schema>,
  lists: Readonly<Record<string, readonly unknown[]>>,
): Generator<void, Buffer> {
  const parts = [toBinary(schema, create(schema, head))];
  for (const [name, list] of Object.entries(lists))
    for (let start = 0; start < list.length; start += ENCODED) {
      const part = { [name]: list.slice(start, start + ENCODED) } as MessageInitShape<Schema>;
      parts.push(toBinary(schema, create(schema, part)));
      yield;
    }
  return Buffer.concat(parts);
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
