// Decides whether the policies that contain an identity and a service grant access. Controller and router share this
// decision: a pure function of the policies, the endpoint's posture, and the time (reference fact: edge, section 9).

import { evaluatePosture, type PostureDemand, type PostureState } from './posture.ts';

/** A service policy of the requested type that contains both the identity and the service. */
export interface GrantingPolicy {
  readonly id: string;
  readonly checks: readonly PostureDemand[];
  /** Ids of checks that the policy demands but that are unknown here: they fail. */
  readonly unknownChecks?: readonly string[];
}

export type AccessVerdict =
  | { readonly granted: true; readonly policyId: string }
  /** Empty if no policy contains both; else the ids of all failing checks, sorted. */
  | { readonly granted: false; readonly failingChecks: readonly string[] };

/** Access needs one policy whose checks all pass. `now` in milliseconds. */
export function decideAccess(policies: Iterable<GrantingPolicy>, state: PostureState, now: number): AccessVerdict {
  const failing = new Set<string>();
  for (const policy of policies) {
    const failed = failingChecks(policy, state, now);
    if (failed.length === 0) return { granted: true, policyId: policy.id };
    for (const id of failed) failing.add(id);
  }
  return { granted: false, failingChecks: [...failing].sort() };
}

/** Ids of the failing checks of a policy. */
export function failingChecks(policy: GrantingPolicy, state: PostureState, now: number): string[] {
  const failed = policy.checks.filter((check) => !evaluatePosture(check, state, now).isPassing).map(({ id }) => id);
  return [...failed, ...(policy.unknownChecks ?? [])];
}
