// Posture in answers: the queries of a service, and the posture data of an identity.

import { timeText } from '#lib/time/duration.ts';
import { evaluatePosture, type MfaDemand, type PostureState, type ProcessDemand } from '#model/posture.ts';
import type {
  PostureData,
  PostureDataBase,
  PostureQueries,
  PostureQuery,
  PostureQueryProcess,
} from '#schemas/api/gen/answers.ts';
import type { ApiSession } from '../../state/kinds/api-session.ts';
import type { Identity } from '../../state/kinds/identity.ts';
import type { PostureCheck } from '../../state/kinds/posture-check.ts';
import type { Service } from '../../state/kinds/service.ts';
import type { ServicePolicy } from '../../state/kinds/service-policy.ts';
import { base } from '../answers/references.ts';
import type { ApiRequest, ApiServices } from '../operations/context.ts';

export type PostureUse = 'state' | 'access' | 'posture' | 'clock';
export type PostureComponents = Pick<ApiServices, PostureUse>;

/**
 * One group for each policy that grants the service to the caller. reference fact: while the network has no posture
 * checks, one group for each permission instead.
 */
export function postureQueries(
  service: Service,
  context: PostureComponents,
  { identity, session }: ApiRequest<never>,
  permissions: readonly ('Dial' | 'Bind' | 'Invalid')[],
): PostureQueries[] {
  const hasChecks = context.state.tables.postureCheck.size > 0;
  const policies = identity && hasChecks ? context.access.granting(identity.id, service.id) : [];
  if (session && policies.length > 0) return policies.map((policy) => group(policy, context, session));
  return permissions.map((permission) => ({
    policyId: `dummy ${permission.toLowerCase()} policy: no posture checks defined`,
    policyType: permission,
    isPassing: true,
    postureQueries: [],
  }));
}

function group(
  policy: ServicePolicy,
  context: Pick<ApiServices, 'access' | 'posture' | 'clock'>,
  session: ApiSession,
): PostureQueries {
  const queries = context.access.checksOf(policy).map((check) => query(check, context, session));
  return {
    policyId: policy.id,
    policyType: policy.type,
    isPassing: queries.every(({ isPassing }) => isPassing),
    postureQueries: queries,
  };
}

function query(
  check: PostureCheck,
  { posture, clock }: Pick<ApiServices, 'posture' | 'clock'>,
  session: ApiSession,
): PostureQuery {
  const { demands, typeId } = check;
  const now = clock.now();
  const state = posture.stateOf(session.identityId, session.id);
  const verdict = evaluatePosture(check, state, now);
  const { promptOnWake, promptOnUnlock } = mfaOf(check);
  return {
    ...base('postureCheck', check),
    updatedAt: updatedAt(check, state),
    queryType: typeId,
    ...verdict,
    ...(verdict.timeoutRemaining >= 0 && { timeoutAt: timeText(now + verdict.timeoutRemaining * 1000) }),
    ...(promptOnWake && { promptOnWake }),
    ...(promptOnUnlock && { promptOnUnlock }),
    ...(typeId === 'PROCESS' && { process: processOf(demands.process) }),
    processes: typeId === 'PROCESS_MULTI' ? demands.processes.map(processOf) : null,
  };
}

function mfaOf(check: PostureCheck): Partial<MfaDemand> {
  return check.typeId === 'MFA' ? check.demands : {};
}

/** The rules of checks store only the operating systems of the enumeration. */
function processOf({ osType, path }: ProcessDemand): PostureQueryProcess {
  return { osType: osType as NonNullable<PostureQueryProcess['osType']>, path };
}

/**
 * reference fact: waking or unlocking the machine counts as a change of an MFA check, so that clients evaluate it
 * again.
 */
function updatedAt(check: PostureCheck, state: PostureState): string {
  const { updatedAt: changed } = check;
  const { promptOnWake, promptOnUnlock } = mfaOf(check);
  const { passedMfaAt, wokenAt, unlockedAt } = state;
  if (passedMfaAt === undefined) return changed;
  const prompts = [promptOnWake && wokenAt, promptOnUnlock && unlockedAt];
  const times = prompts.filter((time) => typeof time === 'number');
  return new Date(Math.max(Date.parse(changed), ...times)).toISOString();
}

/** The posture data of an identity's machines; unknown times are null. */
export function showPostureData(
  { id }: Identity,
  { posture, state }: Pick<ApiServices, 'posture' | 'state'>,
): PostureData {
  const data = posture.dataOf(id);
  const sessions = [...(data?.sessions ?? [])].map(([sessionId, known]) => [
    sessionId,
    {
      mfa: {
        apiSessionId: sessionId,
        passedAt: date(known.passedMfaAt),
        passedMfa: known.passedMfaAt !== undefined,
        passedOnUnlock: isBefore(known.unlockedAt, known.passedMfaAt),
        passedOnWake: isBefore(known.wokenAt, known.passedMfaAt),
      },
      endpointState: { unlockedAt: date(known.unlockedAt), wokenAt: date(known.wokenAt) },
      sdkInfo: state.tables.identity.get(id)?.sdkInfo ?? {},
    },
  ]);
  return {
    apiSessionPostureData: Object.fromEntries(sessions),
    domain: { ...received(data?.domain), domain: data?.domain?.name ?? null },
    mac: { ...received(data?.mac), addresses: data?.mac?.addresses ?? null },
    os: {
      ...received(data?.os),
      type: data?.os?.type ?? null,
      version: data?.os?.version ?? null,
      build: data?.os?.build ?? null,
    },
    processes: [...(data?.processes.values() ?? [])].map((process) => ({
      ...received({ checkId: process.postureCheckId, at: process.at }),
      path: process.path,
      isRunning: process.isRunning,
      binaryHash: process.hash,
      signerFingerprints: process.signerFingerprints,
    })),
  };
}

function received(data: { checkId: string; at: number } | undefined): PostureDataBase {
  return {
    postureCheckId: data?.checkId ?? '',
    timedOut: false,
    lastUpdatedAt: date(data?.at),
  };
}

function date(time: number | undefined): string | null {
  return time === undefined ? null : new Date(time).toISOString();
}

function isBefore(event: number | undefined, passedAt: number | undefined): boolean {
  return passedAt !== undefined && (event === undefined || event < passedAt);
}
