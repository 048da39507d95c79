// Members of each policy, updated change by change. A change of an entity affects only the policies that can select it,
// a change of a policy only its own members. The cost does not depend on the number of others.

import { rolesThatCanSelect, type Semantic, selectByRoles, selectedByRoles } from '#model/roles.ts';
import type { Change, ChangeSet } from '../state/change.ts';
import type { Entity } from '../state/entity.ts';
import type { Side } from '../state/kind.ts';
import { hasRoleAttributes, isPolicyKind, isSelectable, type PolicyKind, type RoleKind } from '../state/kinds.ts';
import { REFERENCES, selectorsIn } from '../state/references.ts';
import type { Table } from '../state/table.ts';
import type { Tables } from '../state/tables.ts';

/** The members of a policy, by its two sides. */
export type Membership = Readonly<Record<Side, ReadonlySet<string>>>;

/** An entity that joined or left a policy. */
export interface MembershipChange {
  readonly kind: PolicyKind;
  readonly policyId: string;
  readonly side: Side;
  readonly id: string;
  readonly joined: boolean;
}

/** A side of the policies of a kind: `key` selects entities of the kind `to`. */
interface Join {
  readonly kind: PolicyKind;
  readonly side: Side;
  readonly to: RoleKind;
  readonly key: string;
}

/** The left side of a kind before the right one. */
const JOINS: readonly Join[] = REFERENCES.flatMap(({ kind, side, to, key }) =>
  side && isPolicyKind(kind) && hasRoleAttributes(to) ? [{ kind, side, to, key }] : [],
);
const NO_MEMBERS: ReadonlySet<string> = new Set();

function sidesOf(kind: PolicyKind): readonly Join[] {
  return JOINS.filter((join) => join.kind === kind);
}

interface Policy extends Entity {
  readonly semantic: Semantic;
}

interface Member extends Entity {
  readonly roleAttributes: readonly string[];
}

export class Memberships {
  readonly #tables: Tables;
  /** Policy id to members. */
  readonly #members = new Map<string, Readonly<Record<Side, Set<string>>>>();
  /** `kind side memberId` to ids of policies. */
  readonly #policies = new Map<string, Set<string>>();

  constructor(tables: Tables) {
    this.#tables = tables;
    for (const kind of new Set(JOINS.map((join) => join.kind)))
      for (const { id } of tables[kind].values()) this.#recompute(kind, id, []);
  }

  members(policyId: string): Membership {
    return this.#members.get(policyId) ?? { left: NO_MEMBERS, right: NO_MEMBERS };
  }

  /** Ids of the policies of a kind with an entity on a side. */
  policiesWith(kind: PolicyKind, side: Side, id: string): ReadonlySet<string> {
    return this.#policies.get(`${kind} ${side} ${id}`) ?? NO_MEMBERS;
  }

  /** Describes the differences between the members of policies and the members that their roles select. */
  check(kind: PolicyKind): string[] {
    const differences: string[] = [];
    for (const policy of this.#tables[kind].values()) {
      for (const join of sidesOf(kind)) {
        const current = this.members(policy.id)[join.side];
        for (const id of current.symmetricDifference(this.#select(join, policy)))
          differences.push(`${kind} ${policy.id}: ${join.to} ${id} ${current.has(id) ? 'unexpected' : 'missing'}`);
      }
    }
    return differences;
  }

  /** Applies a change that the tables already contain. */
  apply({ changes }: ChangeSet): MembershipChange[] {
    const moves: MembershipChange[] = [];
    for (const change of changes) {
      if (isPolicyKind(change.kind)) this.#recompute(change.kind, change.id, moves);
      for (const join of JOINS) if (join.to === change.kind) this.#replace(join, change, moves);
    }
    return moves;
  }

  /** Recomputes all members of a policy. */
  #recompute(kind: PolicyKind, policyId: string, moves: MembershipChange[]): void {
    const policy = this.#tables[kind].get(policyId) as Policy | undefined;
    for (const join of sidesOf(kind)) {
      const { side } = join;
      const wanted = policy ? this.#select(join, policy) : NO_MEMBERS;
      const current = this.members(policyId)[side];
      for (const id of current.difference(wanted)) this.#move({ kind, policyId, side, id, joined: false }, moves);
      for (const id of wanted.difference(current)) this.#move({ kind, policyId, side, id, joined: true }, moves);
    }
    if (!policy) this.#members.delete(policyId);
  }

  #select({ to, key }: Join, policy: Policy): ReadonlySet<string> {
    const table: Table<Member> = this.#tables[to];
    const selected = selectByRoles(selectorsIn(policy, { key }), policy.semantic, table);
    for (const id of selected) if (!isSelectable(to, table.get(id))) selected.delete(id);
    return selected;
  }

  /** Updates one member whose attributes may have changed, in the policies of a kind. */
  #replace({ kind, side, to, key }: Join, { id, before, after }: Change, moves: MembershipChange[]): void {
    const member = isSelectable(to, after) ? (after as Member) : undefined;
    const roles = new Set([before, after].flatMap((each) => (each ? rolesThatCanSelect(each as Member) : [])));
    const policies: Table<Policy> = this.#tables[kind];
    const candidates = new Set(this.policiesWith(kind, side, id));
    for (const role of roles) for (const policy of policies.referring(key, role)) candidates.add(policy.id);
    for (const policyId of candidates) {
      const policy = policies.get(policyId);
      const joined =
        policy !== undefined &&
        member !== undefined &&
        selectedByRoles(selectorsIn(policy, { key }), policy.semantic, member);
      if (joined !== this.members(policyId)[side].has(id)) this.#move({ kind, policyId, side, id, joined }, moves);
    }
  }

  #move(change: MembershipChange, moves: MembershipChange[]): void {
    const { kind, policyId, side, id, joined } = change;
    const members = this.#members.get(policyId) ?? { left: new Set<string>(), right: new Set<string>() };
    this.#members.set(policyId, members);
    const key = `${kind} ${side} ${id}`;
    const policies = this.#policies.get(key) ?? new Set<string>();
    if (joined) {
      members[side].add(id);
      this.#policies.set(key, policies.add(policyId));
    } else {
      members[side].delete(id);
      policies.delete(policyId);
      if (policies.size === 0) this.#policies.delete(key);
    }
    moves.push(change);
  }
}
