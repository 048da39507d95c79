// Says why a posture check fails, for the user of the endpoint.

import {
  type MultiProcessDemand,
  mfaFacts,
  type PostureDemand,
  type PostureState,
  pathProblem,
  processProblem,
  reportedProcess,
} from './posture.ts';

/** For a check that fails. `now` in milliseconds. */
export function postureProblem(check: PostureDemand, state: PostureState, now: number): string {
  switch (check.typeId) {
    case 'OS':
      return state.os
        ? `the operating system ${state.os.type} ${state.os.version} is not allowed`
        : 'no operating system was reported';
    case 'MAC':
      return state.macAddresses?.length ? 'no reported MAC address is allowed' : 'no MAC address was reported';
    case 'DOMAIN':
      return state.domain === undefined ? 'no domain was reported' : `the domain ${state.domain} is not allowed`;
    case 'PROCESS': {
      const { process } = check.demands;
      return processProblem(process, reportedProcess(check.id, process, state), state) ?? '';
    }
    case 'PROCESS_MULTI':
      return processProblems(check.demands, state);
    case 'MFA': {
      const { passedMfa, passedOnWake, passedOnUnlock } = mfaFacts(check.demands, state, now);
      if (!passedMfa) return 'the session has not passed its second factor';
      if (!passedOnWake) return 'the second factor is required again, because the machine woke up';
      if (!passedOnUnlock) return 'the second factor is required again, because the machine was unlocked';
      return `the second factor is required again after ${check.demands.timeoutSeconds} s`;
    }
  }
}

function processProblems({ semantic, processes }: MultiProcessDemand, state: PostureState): string {
  const problems = processes.flatMap((each) => pathProblem(each, state) ?? []);
  return `${semantic === 'AllOf' ? 'all' : 'one'} of the processes must be as demanded: ${problems.join(', ')}`;
}
