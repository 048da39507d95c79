// Whether the policies that join an identity and a service give access now. The one decision for controller and router: a pure
// function of the policies, of what the endpoint reported, and of the time (reference fact: edge, section 9).

import { evaluatePosture, type PostureDemand, type PostureState } from './posture.ts';

/** A service policy of the wanted type that contains both the identity and the service. */
export interface GrantingPolicy {
  readonly id: string;
  readonly checks: readonly PostureDemand[];
  /** Ids of checks that the policy demands and nobody here knows: they fail. */
  readonly unknownChecks?: readonly string[];
}

export type AccessVerdict =
  | { readonly granted: true; readonly policyId: string }
  /** `failingChecks` is empty when no policy joins the two; else it has the ids of all failing checks, sorted. */
  | { readonly granted: false; readonly failingChecks: readonly string[] };

/** One policy whose checks all pass is enough. `now` in milliseconds. */
export function decideAccess(policies: Iterable<GrantingPolicy>, state: PostureState, now: number): AccessVerdict {
  const failing = new Set<string>();
  for (const policy of policies) {
    const failed = failingChecks(policy, state, now);
    if (failed.length === 0) return { granted: true, policyId: policy.id };
    for (const id of failed) failing.add(id);
  }
  return { granted: false, failingChecks: [...failing].sort() };
}

/** Ids of the checks of a policy that fail. */
export function failingChecks(policy: GrantingPolicy, state: PostureState, now: number): string[] {
  const failed = policy.checks.filter((check) => !evaluatePosture(check, state, now).isPassing).map(({ id }) => id);
  return [...failed, ...(policy.unknownChecks ?? [])];
}
