// The history of the router data model: each change of the state as a set of events for routers, and the full state.
// Changes without effect on routers make no set, so indexes have gaps (reference fact: control channel, sections 5.2 to
// 5.4). All controllers of a network have the same sets, from the start of each: a router continues at any of them.

import { asError, describeError } from '#lib/errors.ts';
import { Listeners } from '#lib/listeners.ts';
import { parsePemCertificates } from '#pki/certificates.ts';
import {
  DataState_Action,
  type DataState_Event,
  type ServicePolicyRelatedEntityType,
} from '#wire/gen/edge_control_pb.js';
import type { Access } from '../../access/access.ts';
import type { MembershipChange } from '../../access/memberships.ts';
import type { Authority } from '../../pki/authority.ts';
import type { Change, ChangeSet } from '../../state/change.ts';
import type { Side } from '../../state/kind.ts';
import type { CertificateAuthority } from '../../state/kinds/ca.ts';
import type { ServicePolicy } from '../../state/kinds/service-policy.ts';
import type { EntityKind } from '../../state/kinds.ts';
import type { State } from '../../state/state.ts';
import { event, KeyUsage, modelOf, policyChange, publicKey, RelatedType } from './events.ts';

export interface ModelSet {
  readonly index: bigint;
  readonly previousIndex: bigint;
  readonly events: readonly DataState_Event[];
}

/** reference fact: number of sets that are kept for reconnecting routers. */
const HISTORY = 10_000;
/** Ordered by dependency. */
const FULL_ORDER: readonly EntityKind[] = [
  'configType',
  'config',
  'identity',
  'service',
  'router',
  'postureCheck',
  'revocation',
];

/** Service policy → its members that joined or left with the latest change. */
type MovesByPolicy = ReadonlyMap<string, readonly MembershipChange[]>;

export class ModelSets {
  readonly #state: State;
  readonly #access: Access;
  readonly #authority: Authority;
  readonly #unsubscribe: () => void;
  readonly #listeners: Listeners<ModelSet>;
  readonly #resets: Listeners<void>;
  /** Posture checks of service policies, as last sent to routers. */
  readonly #checks = new Map<string, ReadonlySet<string>>();
  #sets: ModelSet[] = [];
  /** Index of the last set. */
  #last: bigint;
  /** The history has all sets after this index. */
  #start: bigint;

  constructor(state: State, access: Access, authority: Authority) {
    this.#state = state;
    this.#access = access;
    this.#authority = authority;
    this.#last = state.index;
    this.#start = state.index;
    this.#listeners = new Listeners('sets of the data model', state.log);
    this.#resets = new Listeners('resets of the data model', state.log);
    this.#readChecks();
    this.#unsubscribe = state.subscribe('derived', (set) => this.#onChange(set));
  }

  /** Index of the last change, which may have no set: the position of a router with the full state. */
  get index(): bigint {
    return this.#state.index;
  }

  /** Index of the last set: each router has it, or receives it. */
  get latest(): bigint {
    return this.#last;
  }

  get timeline(): string {
    return this.#state.timeline;
  }

  subscribe(listener: (set: ModelSet) => void): () => void {
    return this.#listeners.add(listener);
  }

  /** Calls `listener` after the history was reset without a set for the last change: receivers need the full state. */
  onReset(listener: () => void): () => void {
    return this.#resets.add(listener);
  }

  close(): void {
    this.#unsubscribe();
    this.#listeners.clear();
    this.#resets.clear();
  }

  /** The sets after `index`; undefined if the history does not reach back that far. */
  since(index: bigint): readonly ModelSet[] | undefined {
    if (index < this.#start || index > this.index) return undefined;
    const first = this.#sets.findIndex((set) => set.index > index);
    return first < 0 ? [] : this.#sets.slice(first);
  }

  /** The full state, ordered by dependency. */
  fullState(): DataState_Event[] {
    const { tables } = this.#state;
    const events: DataState_Event[] = [];
    for (const kind of FULL_ORDER) {
      for (const entity of tables[kind].values())
        events.push(...this.#entityEvent(DataState_Action.CREATE, kind, entity));
    }
    for (const policy of tables.servicePolicy.values()) {
      events.push(...this.#entityEvent(DataState_Action.CREATE, 'servicePolicy', policy));
      const { left, right } = this.#access.membership(policy.id);
      events.push(...defined(policyChange(policy.id, RelatedType.RELATED_SERVICE, right, true)));
      events.push(...defined(policyChange(policy.id, RelatedType.RELATED_IDENTITY, left, true)));
      const checks = this.#checksOf(policy);
      events.push(...defined(policyChange(policy.id, RelatedType.RELATED_POSTURE_CHECK, checks, true)));
    }
    return [...events, ...this.publicKeys()];
  }

  /**
   * Describes differences between what routers received and the entities. Entities are sent as they are stored, so only
   * the members of policies, which are updated change by change, can differ.
   */
  check(): string[] {
    const errors = this.#access.check('servicePolicy');
    for (const policy of this.#state.tables.servicePolicy.values()) {
      const sent = this.#checks.get(policy.id) ?? new Set();
      for (const id of sent.symmetricDifference(this.#checksOf(policy)))
        errors.push(`service policy ${policy.id}: posture check ${id} ${sent.has(id) ? 'unexpected' : 'missing'}`);
    }
    return errors;
  }

  /**
   * Certificates that verify tokens and client certificates: of this network, and of verified third-party authorities.
   */
  publicKeys(): DataState_Event[] {
    const { serverCertificate, roots } = this.#authority;
    const authorities = [...this.#state.tables.ca.values()].filter(({ isVerified }) => isVerified);
    return [
      publicKey(serverCertificate, [KeyUsage.JWTVALIDATION, KeyUsage.CLIENT_X509_CERT_VALIDATION]),
      ...roots.map((root) => publicKey(root, [KeyUsage.CLIENT_X509_CERT_VALIDATION])),
      ...authorities.flatMap((ca) => authorityKey(ca, DataState_Action.CREATE)),
    ];
  }

  #onChange(set: ChangeSet): void {
    if (set.isReload) {
      this.#startAgain(set.index);
      return;
    }
    let events: DataState_Event[];
    try {
      const moves = this.#movesByPolicy();
      events = [
        ...set.changes.flatMap((change) => this.#eventsOf(change, moves)),
        ...membershipEvents(set, moves),
        ...this.#checkEvents(set),
      ];
    } catch (error) {
      this.#reset(set.index, error);
      return;
    }
    if (events.length === 0) return;
    const built: ModelSet = { index: set.index, previousIndex: this.#last, events };
    this.#last = set.index;
    this.#sets.push(built);
    if (this.#sets.length > HISTORY) {
      this.#sets = this.#sets.slice(-HISTORY / 2);
      this.#start = this.#sets[0]?.previousIndex ?? set.index;
    }
    this.#listeners.call(built);
  }

  /**
   * The change is committed, so a history without it would leave routers with an outdated model. A new history begins.
   */
  #reset(index: bigint, error: unknown): void {
    const { stack } = asError(error);
    this.#state.log.error({ index: String(index), error: describeError(error), stack }, 'data model history was reset');
    this.#startAgain(index);
  }

  #startAgain(index: bigint): void {
    this.#last = index;
    this.#start = index;
    this.#sets = [];
    this.#checks.clear();
    this.#readChecks();
    this.#resets.call();
  }

  #readChecks(): void {
    for (const policy of this.#state.tables.servicePolicy.values()) this.#checks.set(policy.id, this.#checksOf(policy));
  }

  #eventsOf({ kind, id, before, after }: Change, moves: MovesByPolicy): DataState_Event[] {
    if (kind === 'ca') return authorityEvents(before, after);
    if (after) {
      const action = before ? DataState_Action.UPDATE : DataState_Action.CREATE;
      return this.#entityEvent(action, kind, after);
    }
    if (!before) return [];
    const removed = this.#entityEvent(DataState_Action.DELETE, kind, before);
    if (kind !== 'identity' && kind !== 'servicePolicy') return removed;
    const members = kind === 'identity' ? [] : memberEvents(id, moves.get(id) ?? []);
    return [...this.#entityEvent(DataState_Action.UPDATE, kind, before), ...members, ...removed];
  }

  /** Grouped once: one change may move many members of many policies. */
  #movesByPolicy(): MovesByPolicy {
    return Map.groupBy(
      this.#access.latestChanges.filter(({ kind }) => kind === 'servicePolicy'),
      ({ policyId }) => policyId,
    );
  }

  /** Checks that policies newly demand or no longer demand. */
  #checkEvents({ changes }: ChangeSet): DataState_Event[] {
    const { servicePolicy, postureCheck } = this.#state.tables;
    const changed = changes.filter(({ kind }) => kind === 'servicePolicy');
    for (const { id, after } of changed) if (!after) this.#checks.delete(id);
    // Any policy can demand a check through its role attributes.
    const policies = changes.some(({ kind }) => kind === 'postureCheck')
      ? servicePolicy.values()
      : changed.flatMap(({ id }) => servicePolicy.get(id) ?? []);
    const events: DataState_Event[] = [];
    for (const policy of policies) {
      const sent = this.#checks.get(policy.id);
      if (policy.postureCheckRoles.length === 0 && !sent?.size) continue;
      const now = this.#checksOf(policy);
      this.#checks.set(policy.id, now);
      const removed = [...(sent ?? [])].filter((id) => !now.has(id) && postureCheck.has(id));
      events.push(...defined(policyChange(policy.id, RelatedType.RELATED_POSTURE_CHECK, removed, false)));
      const added = now.difference(sent ?? new Set());
      events.push(...defined(policyChange(policy.id, RelatedType.RELATED_POSTURE_CHECK, added, true)));
    }
    return events;
  }

  #checksOf(policy: ServicePolicy): ReadonlySet<string> {
    return new Set(this.#access.checksOf(policy).map(({ id }) => id));
  }

  #entityEvent(action: DataState_Action, kind: EntityKind, entity: Change['after']): DataState_Event[] {
    const model = entity && modelOf(kind, entity, this.#state.tables);
    return model ? [event(action, model)] : [];
  }
}

/**
 * Members that were added or removed, for any reason. Deleted entities and deleted policies have events of their own.
 */
function membershipEvents({ changes }: ChangeSet, moves: MovesByPolicy): DataState_Event[] {
  const deleted = new Set(changes.filter(({ after }) => !after).map(({ id }) => id));
  return [...moves]
    .filter(([policyId]) => !deleted.has(policyId))
    .flatMap(([policyId, all]) =>
      memberEvents(
        policyId,
        all.filter(({ id, joined }) => joined || !deleted.has(id)),
      ),
    );
}

/** Changes in the members of a service policy. */
function memberEvents(policyId: string, moves: readonly MembershipChange[]): DataState_Event[] {
  const membersEvent = (type: ServicePolicyRelatedEntityType, side: Side, joined: boolean) => {
    const ids = moves.filter((move) => move.side === side && move.joined === joined).map(({ id }) => id);
    return defined(policyChange(policyId, type, ids, joined));
  };
  return [
    ...membersEvent(RelatedType.RELATED_IDENTITY, 'left', false),
    ...membersEvent(RelatedType.RELATED_SERVICE, 'right', false),
    ...membersEvent(RelatedType.RELATED_SERVICE, 'right', true),
    ...membersEvent(RelatedType.RELATED_IDENTITY, 'left', true),
  ];
}

/** Clients of an authority may connect to routers from its verification until its deletion. */
function authorityEvents(
  before: CertificateAuthority | undefined,
  after: CertificateAuthority | undefined,
): DataState_Event[] {
  if (before?.isVerified === after?.isVerified && before?.certPem === after?.certPem) return [];
  return [
    ...(before?.isVerified ? authorityKey(before, DataState_Action.DELETE) : []),
    ...(after?.isVerified ? authorityKey(after, DataState_Action.CREATE) : []),
  ];
}

function authorityKey({ certPem }: CertificateAuthority, action: DataState_Action): DataState_Event[] {
  return parsePemCertificates(certPem)
    .slice(0, 1)
    .map((certificate) => publicKey(certificate, [KeyUsage.CLIENT_X509_CERT_VALIDATION], action));
}

function defined<T>(value: T | undefined): T[] {
  return value === undefined ? [] : [value];
}
