// Decides whether a session may dial or bind a service, from the router's copy of the network's data.

import { type AccessVerdict, decideAccess, type GrantingPolicy } from '#model/access.ts';
import type { PostureDemand, PostureState } from '#model/posture.ts';
import { postureProblem } from '#model/posture-problem.ts';
import type { DataModel, Permission, Policy } from './data-model.ts';
import { postureDemand } from './posture-demands.ts';

/** The identity that requests access, and the posture of its endpoint. */
export interface Subject {
  readonly identityId: string;
  readonly posture: PostureState;
}

export class Access {
  readonly #model: DataModel;

  constructor(model: DataModel) {
    this.#model = model;
  }

  /** `now` in milliseconds. Unknown identities and services, and disabled identities, have no access. */
  decide({ identityId, posture }: Subject, serviceId: string, permission: Permission, now: number): AccessVerdict {
    const model = this.#model;
    const identity = model.identities.get(identityId);
    if (!identity || identity.disabled || !model.services.has(serviceId)) return { granted: false, failingChecks: [] };
    return decideAccess(this.granting(identityId, serviceId, permission), posture, now);
  }

  /** Why each of these failing checks fails, with its name. */
  explain(checkIds: readonly string[], posture: PostureState, now: number): string[] {
    return checkIds.map((id) => {
      const check = this.#model.postureChecks.get(id);
      const demand = check && postureDemand(check);
      if (!check || !demand) return `${id}: this router does not know the check, or its type`;
      return `${check.name}: ${postureProblem(demand, posture, now)}`;
    });
  }

  /** The policies of a type that contain both. */
  granting(identityId: string, serviceId: string, permission: Permission): GrantingPolicy[] {
    return this.#model.policiesJoining(identityId, serviceId, permission).map((policy) => this.withChecks(policy));
  }

  /** A policy with the checks that it demands. */
  withChecks(policy: Policy): GrantingPolicy {
    const checks: PostureDemand[] = [];
    const unknownChecks: string[] = [];
    for (const id of policy.postureChecks) {
      const check = this.#model.postureChecks.get(id);
      const demand = check && postureDemand(check);
      if (demand) checks.push(demand);
      else unknownChecks.push(id);
    }
    return { id: policy.id, checks, unknownChecks };
  }
}
