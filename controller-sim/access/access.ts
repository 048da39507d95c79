// Who may do what over which routers, and why: policies evaluated over the tables. Memberships of policies are kept and only those
// that a change can have touched are computed anew.

import { selectByRoles } from '#model/roles.ts';
import type { ChangeSet } from '../state/change.ts';
import type { State } from '../state/state.ts';
import type { EntityKind, Identity, Router, Service, ServicePolicy } from '../state/types.ts';

export type PermissionType = 'Dial' | 'Bind';

/** The members of a policy, by the two kinds it joins. */
export interface Membership {
  readonly left: ReadonlySet<string>;
  readonly right: ReadonlySet<string>;
}

type PolicyKind = 'servicePolicy' | 'edgeRouterPolicy' | 'serviceEdgeRouterPolicy';

/** Which kinds a policy joins, and under which keys it selects them. */
const JOINS: Readonly<
  Record<PolicyKind, { left: EntityKind; leftRoles: string; right: EntityKind; rightRoles: string }>
> = {
  servicePolicy: { left: 'identity', leftRoles: 'identityRoles', right: 'service', rightRoles: 'serviceRoles' },
  edgeRouterPolicy: {
    left: 'identity',
    leftRoles: 'identityRoles',
    right: 'router',
    rightRoles: 'edgeRouterRoles',
  },
  serviceEdgeRouterPolicy: {
    left: 'service',
    leftRoles: 'serviceRoles',
    right: 'router',
    rightRoles: 'edgeRouterRoles',
  },
};
const POLICY_KINDS = Object.keys(JOINS) as PolicyKind[];

export class Access {
  readonly #state: State;
  readonly #memberships = new Map<string, Membership>();
  readonly #unsubscribe: () => void;

  constructor(state: State) {
    this.#state = state;
    for (const kind of POLICY_KINDS) for (const policy of state.tables[kind].values()) this.#compute(kind, policy.id);
    this.#unsubscribe = state.subscribe((set) => this.#onChange(set));
  }

  close(): void {
    this.#unsubscribe();
  }

  /** Members of a policy: identities and services, identities and routers, or services and routers. */
  membership(policyId: string): Membership {
    return this.#memberships.get(policyId) ?? { left: new Set(), right: new Set() };
  }

  /** Policies that join two entities, in no order. */
  policiesJoining(kind: PolicyKind, leftId: string, rightId: string): string[] {
    return this.#policiesWhere(kind, ({ left, right }) => left.has(leftId) && right.has(rightId));
  }

  /** Policies in which an entity stands on a side. */
  policiesWith(kind: PolicyKind, side: keyof Membership, id: string): string[] {
    return this.#policiesWhere(kind, (membership) => membership[side].has(id));
  }

  /** Whether an identity may dial or bind a service. */
  may(identityId: string, serviceId: string, type: PermissionType): boolean {
    return this.policiesJoining('servicePolicy', identityId, serviceId).some(
      (id) => this.#state.tables.servicePolicy.get(id)?.type === type,
    );
  }

  /** What an identity may do with a service. */
  permissions(identityId: string, serviceId: string): PermissionType[] {
    const types = new Set(
      this.policiesJoining('servicePolicy', identityId, serviceId).map(
        (id) => (this.#state.tables.servicePolicy.get(id) as ServicePolicy).type,
      ),
    );
    return (['Dial', 'Bind'] as const).filter((type) => types.has(type));
  }

  /** Services that an identity may use in any way. */
  servicesOf(identityId: string): Service[] {
    const ids = new Set(
      this.policiesWith('servicePolicy', 'left', identityId).flatMap((id) => [...this.membership(id).right]),
    );
    return [...ids].flatMap((id) => this.#state.tables.service.get(id) ?? []);
  }

  identitiesOf(serviceId: string): Identity[] {
    const ids = new Set(
      this.policiesWith('servicePolicy', 'right', serviceId).flatMap((id) => [...this.membership(id).left]),
    );
    return [...ids].flatMap((id) => this.#state.tables.identity.get(id) ?? []);
  }

  /** Routers that an identity may use, whatever the service. */
  routersOfIdentity(identityId: string): Router[] {
    return this.#routers(this.policiesWith('edgeRouterPolicy', 'left', identityId));
  }

  routersOfService(serviceId: string): Router[] {
    return this.#routers(this.policiesWith('serviceEdgeRouterPolicy', 'left', serviceId));
  }

  /** Routers over which an identity may reach a service: those of both kinds of policy. */
  commonRouters(identityId: string, serviceId: string): Router[] {
    const ofService = new Set(this.routersOfService(serviceId).map(({ id }) => id));
    return this.routersOfIdentity(identityId).filter(({ id }) => ofService.has(id));
  }

  /** In words, why an identity may or may not use a service over a router. */
  why(identityId: string, serviceId: string, type: PermissionType, routerId?: string): string[] {
    const name = (kind: PolicyKind, id: string) => this.#state.tables[kind].get(id)?.name ?? id;
    const granting = this.policiesJoining('servicePolicy', identityId, serviceId).filter(
      (id) => this.#state.tables.servicePolicy.get(id)?.type === type,
    );
    const lines =
      granting.length > 0
        ? granting.map((id) => `service policy ${name('servicePolicy', id)} grants ${type}`)
        : [`no service policy grants ${type} of this service to this identity`];
    if (routerId === undefined) return lines;
    const byIdentity = this.policiesJoining('edgeRouterPolicy', identityId, routerId);
    const byService = this.policiesJoining('serviceEdgeRouterPolicy', serviceId, routerId);
    lines.push(
      byIdentity.length > 0
        ? `edge router policy ${byIdentity.map((id) => name('edgeRouterPolicy', id)).join(', ')} lets the identity use the router`
        : 'no edge router policy lets this identity use this router',
    );
    lines.push(
      byService.length > 0
        ? `service edge router policy ${byService.map((id) => name('serviceEdgeRouterPolicy', id)).join(', ')} lets the service use the router`
        : 'no service edge router policy lets this service use this router',
    );
    return lines;
  }

  #routers(policyIds: readonly string[]): Router[] {
    const ids = new Set(policyIds.flatMap((id) => [...this.membership(id).right]));
    return [...ids].flatMap((id) => this.#state.tables.router.get(id) ?? []);
  }

  #policiesWhere(kind: PolicyKind, test: (membership: Membership) => boolean): string[] {
    const found: string[] = [];
    for (const { id } of this.#state.tables[kind].values()) if (test(this.membership(id))) found.push(id);
    return found;
  }

  #onChange(set: ChangeSet): void {
    const touched = new Set(set.changes.map((change) => change.kind));
    for (const kind of POLICY_KINDS) {
      const all = touched.has(JOINS[kind].left) || touched.has(JOINS[kind].right);
      for (const policy of all ? this.#state.tables[kind].values() : []) this.#compute(kind, policy.id);
      for (const change of set.changes) if (change.kind === kind) this.#compute(kind, change.id);
    }
  }

  #compute(kind: PolicyKind, id: string): void {
    const policy = this.#state.tables[kind].get(id);
    if (!policy) {
      this.#memberships.delete(id);
      return;
    }
    const { left, leftRoles, right, rightRoles } = JOINS[kind];
    const roles = policy as unknown as Readonly<Record<string, readonly string[]>>;
    this.#memberships.set(id, {
      left: selectByRoles(roles[leftRoles] ?? [], policy.semantic, this.#state.tables[left]),
      right: selectByRoles(roles[rightRoles] ?? [], policy.semantic, this.#state.tables[right]),
    });
  }
}
