// Why a machine fails a posture check, in one sentence.

import {
  evaluatePosture,
  type MfaDemand,
  mfaDeadline,
  mfaFacts,
  type PostureState,
  pathProblem,
  processProblem,
  reportedProcess,
} from '#model/posture.ts';
import type { PostureCheck } from '../../state/kinds/posture-check.ts';

export interface PostureProblem {
  readonly message: string;
  readonly remedy: string;
}

/** Undefined if the machine passes. `now` in milliseconds. */
export function postureProblem(check: PostureCheck, state: PostureState, now: number): PostureProblem | undefined {
  if (evaluatePosture(check, state, now).isPassing) return undefined;
  if (check.typeId === 'MFA') return mfaProblem(check.demands, state, now);
  return { message: reportProblem(check, state), remedy: 'let the client report another value, or change the check' };
}

/** A passing check, with the time at which it starts to fail. */
export function postureSuccess(check: PostureCheck, state: PostureState): string {
  const deadline = check.typeId === 'MFA' ? mfaDeadline(check.demands, state) : undefined;
  return deadline === undefined ? 'passes' : `passes until ${new Date(deadline).toISOString()}`;
}

function reportProblem(check: Exclude<PostureCheck, { typeId: 'MFA' }>, state: PostureState): string {
  switch (check.typeId) {
    case 'OS': {
      const { os } = state;
      const wanted = check.demands.operatingSystems
        .map(({ type, versions }) => (versions.length === 0 ? type : `${type} ${versions.join(' or ')}`))
        .join(', ');
      return os
        ? `the machine runs ${os.type} ${os.version}, allowed are ${wanted}`
        : 'no operating system is reported';
    }
    case 'MAC':
      return state.macAddresses
        ? `none of the reported MAC addresses (${state.macAddresses.join(', ')}) is allowed`
        : 'no MAC address is reported';
    case 'DOMAIN':
      return state.domain === undefined
        ? 'no domain is reported'
        : `the machine is in the domain ${state.domain}, allowed are ${check.demands.domains.join(', ')}`;
    case 'PROCESS': {
      const { process } = check.demands;
      return processProblem(process, reportedProcess(check.id, process, state), state) ?? 'the process is not allowed';
    }
    case 'PROCESS_MULTI': {
      const { processes, semantic } = check.demands;
      const problems = processes.flatMap((demand) => pathProblem(demand, state) ?? []);
      return problems.join(semantic === 'AllOf' ? '; ' : ', and ') || 'no process is demanded, so none can pass';
    }
  }
}

function mfaProblem(demand: MfaDemand, state: PostureState, now: number): PostureProblem {
  const { passedMfa, passedOnWake, passedOnUnlock } = mfaFacts(demand, state, now);
  const remedy = 'give a one-time password in this session (POST /authenticate/mfa)';
  if (!passedMfa) return { message: 'no one-time password was given in this session', remedy };
  if (!passedOnWake) return { message: 'no one-time password was given since the machine woke up', remedy };
  if (!passedOnUnlock) return { message: 'no one-time password was given since the machine was unlocked', remedy };
  const since = new Date(state.passedMfaAt ?? 0).toISOString();
  return { message: `the one-time password of ${since} is older than ${demand.timeoutSeconds} s`, remedy };
}
