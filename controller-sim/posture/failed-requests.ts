// Service requests that failed their posture checks: the last fifty of each identity, with actual and expected values
// of each check.

import type { Clock } from '#lib/time/clock.ts';
import {
  evaluatePosture,
  type MfaDemand,
  mfaFacts,
  type PostureCheckType,
  type PostureState,
  type ProcessState,
} from '#model/posture.ts';
import type { PermissionType } from '../state/entity.ts';
import type { ApiSession } from '../state/kinds/api-session.ts';
import type { PostureCheck } from '../state/kinds/posture-check.ts';
import type { Service } from '../state/kinds/service.ts';
import type { ServicePolicy } from '../state/kinds/service-policy.ts';

/** specification: limits. */
const MAX_KEPT = 50;

export interface FailedRequest {
  readonly apiSessionId: string;
  readonly serviceId: string;
  readonly serviceName: string;
  readonly sessionType: PermissionType;
  readonly when: string;
  readonly policyFailures: readonly {
    readonly policyId: string;
    readonly policyName: string;
    readonly checks: readonly FailedCheck[];
  }[];
}

/** With the actual and the expected values, which depend on the type. */
interface FailedCheck {
  readonly postureCheckId: string;
  readonly postureCheckName: string;
  readonly postureCheckType: PostureCheckType;
}

export class FailedRequests {
  readonly #clock: Clock;
  readonly #byIdentity = new Map<string, FailedRequest[]>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Newest first. */
  of(identityId: string): readonly FailedRequest[] {
    return this.#byIdentity.get(identityId) ?? [];
  }

  forget(identityId: string): void {
    this.#byIdentity.delete(identityId);
  }

  add(
    session: ApiSession,
    service: Service,
    sessionType: PermissionType,
    failures: readonly { policy: ServicePolicy; checks: readonly PostureCheck[] }[],
    state: PostureState,
  ): void {
    const now = this.#clock.now();
    const request: FailedRequest = {
      apiSessionId: session.id,
      serviceId: service.id,
      serviceName: service.name,
      sessionType,
      when: new Date(now).toISOString(),
      policyFailures: failures.map(({ policy, checks }) => ({
        policyId: policy.id,
        policyName: policy.name,
        checks: checks.map((check) => ({
          postureCheckId: check.id,
          postureCheckName: check.name,
          postureCheckType: check.typeId,
          ...explain(check, state, now),
        })),
      })),
    };
    this.#byIdentity.set(session.identityId, [request, ...this.of(session.identityId)].slice(0, MAX_KEPT));
  }
}

/** Actual and expected values of a check (reference fact: HTTP entities, section 17). */
function explain(check: PostureCheck, state: PostureState, now: number): object {
  switch (check.typeId) {
    case 'OS':
      return {
        actualValue: { type: state.os?.type ?? '', version: state.os?.version ?? '' },
        expectedValue: check.demands.operatingSystems,
      };
    case 'MAC':
      return { actualValue: state.macAddresses ?? [], expectedValue: check.demands.macAddresses };
    case 'DOMAIN':
      return { actualValue: state.domain ?? '', expectedValue: check.demands.domains };
    case 'PROCESS': {
      const { path } = check.demands.process;
      const seen = state.processes.find((each) => each.postureCheckId === check.id || each.path === path);
      return { actualValue: process(seen), expectedValue: check.demands.process };
    }
    case 'PROCESS_MULTI': {
      const { processes, semantic } = check.demands;
      const paths = processes.map(({ path }) => path);
      const seen = state.processes.filter(({ path }) => paths.includes(path));
      return { actualValue: seen.map(process), expectedValue: processes, semantic };
    }
    case 'MFA':
      return mfa(check, check.demands, state, now);
  }
}

function process(seen: ProcessState | undefined): object {
  return {
    ...(seen && { path: seen.path }),
    isRunning: seen?.isRunning ?? false,
    hash: seen?.hash ?? '',
    signerFingerprints: seen?.signerFingerprints ?? [],
  };
}

function mfa(check: PostureCheck, demand: MfaDemand, state: PostureState, now: number): object {
  const { timeout, timeoutRemaining } = evaluatePosture(check, state, now);
  return {
    actualValue: mfaFacts(demand, state, now),
    expectedValue: {
      passedMfa: true,
      passedOnWake: demand.promptOnWake,
      passedOnUnlock: demand.promptOnUnlock,
      timedOut: false,
    },
    criteria: {
      passedMfaAt: date(state.passedMfaAt),
      wokenAt: date(state.wokenAt),
      unlockedAt: date(state.unlockedAt),
      timeoutSeconds: timeout,
      timeoutRemainingSeconds: timeoutRemaining,
    },
  };
}

function date(time: number | undefined): string | null {
  return time === undefined ? null : new Date(time).toISOString();
}
