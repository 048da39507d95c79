// Answers who may do what over which routers, and why, from the memberships of policies.

import { Listeners } from '#lib/listeners.ts';
import { selectByRoles } from '#model/roles.ts';
import type { PermissionType } from '../state/entity.ts';
import type { Side } from '../state/kind.ts';
import type { Identity } from '../state/kinds/identity.ts';
import type { PostureCheck } from '../state/kinds/posture-check.ts';
import type { Router } from '../state/kinds/router.ts';
import type { Service } from '../state/kinds/service.ts';
import type { ServicePolicy } from '../state/kinds/service-policy.ts';
import type { EntityTypes, MemberKind, PolicyKind } from '../state/kinds.ts';
import type { State } from '../state/state.ts';
import { type Membership, type MembershipChange, Memberships } from './memberships.ts';

export class Access {
  readonly #state: State;
  readonly #memberships: Memberships;
  readonly #listeners: Listeners<readonly MembershipChange[]>;
  readonly #unsubscribe: () => void;
  #latest: readonly MembershipChange[] = [];

  constructor(state: State) {
    this.#state = state;
    this.#listeners = new Listeners('changes of memberships', state.log);
    this.#memberships = new Memberships(state.tables);
    this.#unsubscribe = state.subscribe('access', (set) => {
      this.#latest = this.#memberships.apply(set);
      if (this.#latest.length > 0) this.#listeners.call(this.#latest);
    });
  }

  close(): void {
    this.#unsubscribe();
    this.#listeners.clear();
  }

  /** Membership changes in the latest change of the state. */
  get latestChanges(): readonly MembershipChange[] {
    return this.#latest;
  }

  /** Calls `listener` with membership changes until the returned function is called. */
  subscribe(listener: (changes: readonly MembershipChange[]) => void): () => void {
    return this.#listeners.add(listener);
  }

  /** Members of a policy: identities and services, identities and routers, or services and routers. */
  membership(policyId: string): Membership {
    return this.#memberships.members(policyId);
  }

  /** Describes the differences between the members of policies and the members that their roles select. */
  check(kind: PolicyKind): string[] {
    return this.#memberships.check(kind);
  }

  /** Policies that contain both entities, in no particular order. */
  policiesJoining(kind: PolicyKind, leftId: string, rightId: string): string[] {
    const left = this.#memberships.policiesWith(kind, 'left', leftId);
    const right = this.#memberships.policiesWith(kind, 'right', rightId);
    return [...left.intersection(right)];
  }

  /** Policies with an entity on a side. */
  policiesWith(kind: PolicyKind, side: Side, id: string): string[] {
    return [...this.#memberships.policiesWith(kind, side, id)];
  }

  /** Service policies that grant an identity a service. */
  granting(identityId: string, serviceId: string): ServicePolicy[] {
    return this.policiesJoining('servicePolicy', identityId, serviceId).flatMap(
      (id) => this.#state.tables.servicePolicy.get(id) ?? [],
    );
  }

  /** Posture checks that a service policy demands. */
  checksOf(policy: ServicePolicy): PostureCheck[] {
    if (policy.postureCheckRoles.length === 0) return [];
    const { postureCheck } = this.#state.tables;
    const ids = selectByRoles(policy.postureCheckRoles, policy.semantic, postureCheck);
    return [...ids].flatMap((id) => postureCheck.get(id) ?? []);
  }

  /** Whether an identity may dial or bind a service. */
  may(identityId: string, serviceId: string, type: PermissionType): boolean {
    return this.granting(identityId, serviceId).some((policy) => policy.type === type);
  }

  /** The permissions of an identity for a service. */
  permissions(identityId: string, serviceId: string): PermissionType[] {
    const types = new Set(this.granting(identityId, serviceId).map(({ type }) => type));
    return (['Bind', 'Dial'] as const).filter((type) => types.has(type));
  }

  /** Services for which an identity has any permission, or the given one. */
  servicesOf(identityId: string, type?: PermissionType): Service[] {
    const policies = this.policiesWith('servicePolicy', 'left', identityId).filter((id) => this.#isOfType(id, type));
    return this.#found('service', policies, 'right');
  }

  identitiesOf(serviceId: string, type?: PermissionType): Identity[] {
    const policies = this.policiesWith('servicePolicy', 'right', serviceId).filter((id) => this.#isOfType(id, type));
    return this.#found('identity', policies, 'left');
  }

  /** Routers that an identity may use, regardless of the service. */
  routersOfIdentity(identityId: string): Router[] {
    return this.#found('router', this.policiesWith('edgeRouterPolicy', 'left', identityId), 'right');
  }

  identitiesOfRouter(routerId: string): Identity[] {
    return this.#found('identity', this.policiesWith('edgeRouterPolicy', 'right', routerId), 'left');
  }

  routersOfService(serviceId: string): Router[] {
    return this.#found('router', this.policiesWith('serviceEdgeRouterPolicy', 'left', serviceId), 'right');
  }

  servicesOfRouter(routerId: string): Service[] {
    return this.#found('service', this.policiesWith('serviceEdgeRouterPolicy', 'right', routerId), 'left');
  }

  /** Routers over which an identity may use a service: both kinds of policy must permit them. */
  commonRouters(identityId: string, serviceId: string): Router[] {
    return this.routersOfIdentity(identityId).filter(({ id }) => this.#serviceMayUse(serviceId, id));
  }

  /** Explains why an identity may or may not use a service over a router. */
  why(identityId: string, serviceId: string, type: PermissionType, routerId?: string): string[] {
    const name = (kind: PolicyKind, id: string) => this.#state.tables[kind].get(id)?.name ?? id;
    const granting = this.granting(identityId, serviceId).filter((policy) => policy.type === type);
    const lines =
      granting.length > 0
        ? granting.map((policy) => `service policy ${policy.name} grants ${type}`)
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

  #serviceMayUse(serviceId: string, routerId: string): boolean {
    return this.policiesJoining('serviceEdgeRouterPolicy', serviceId, routerId).length > 0;
  }

  #isOfType(policyId: string, type: PermissionType | undefined): boolean {
    return type === undefined || this.#state.tables.servicePolicy.get(policyId)?.type === type;
  }

  #found<K extends MemberKind>(kind: K, policyIds: readonly string[], side: Side): EntityTypes[K][] {
    const ids = new Set(policyIds.flatMap((id) => [...this.membership(id)[side]]));
    return [...ids].flatMap((id) => this.#state.tables[kind].get(id) ?? []);
  }
}
