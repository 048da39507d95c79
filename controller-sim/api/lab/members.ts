// Faults of the members of a cluster. Any member takes the request, and passes it on to the one that it names.

import { InvalidError, UnknownError } from '../../lab/lab-error.ts';
import type { MemberFaults } from '../../lab/member-faults.ts';
import type { ApiServices } from '../operations/context.ts';
import { answering } from './lab-handler.ts';

/** The faults by their name in calls between members. */
const FAULTS = {
  partition: (member: MemberFaults) => member.partition(),
  heal: (member: MemberFaults) => member.heal(),
  pause: (member: MemberFaults, duration?: string) => member.pause(duration),
  kill: (member: MemberFaults) => member.kill(),
} as const;
type Fault = keyof typeof FAULTS;

export const memberHandlers = {
  rejoinMember: answering<'rejoinMember'>(async (_lab, { id }, { cluster }) => {
    if (!(await cluster.rejoin(id))) throw notRunning(id);
  }),
  partitionMember: answering<'partitionMember'>((_lab, { id }, services) => cause('partition', id, services)),
  healMember: answering<'healMember'>((_lab, { id }, services) => cause('heal', id, services)),
  pauseMember: answering<'pauseMember'>((_lab, { id, duration }, services) => cause('pause', id, services, duration)),
  killMember: answering<'killMember'>((_lab, { id }, services) => cause('kill', id, services)),
};

/** Lets other members cause the faults of this one. */
export function serveMemberFaults({ peers, lab }: Pick<ApiServices, 'peers' | 'lab'>): void {
  for (const [fault, act] of Object.entries(FAULTS))
    peers.serve(callOf(fault), (duration) => act(lab.member, typeof duration === 'string' ? duration : undefined));
}

async function cause(
  fault: Fault,
  id: string,
  services: Pick<ApiServices, 'cluster' | 'peers' | 'controllerId' | 'lab'>,
  duration?: string,
): Promise<void> {
  const { cluster, peers, controllerId, lab } = services;
  if (id === controllerId) {
    FAULTS[fault](lab.member, duration);
    return;
  }
  // A member that is cut off counts as disconnected, and answers.
  if (!cluster.find(id)) throw notRunning(id);
  try {
    await peers.call(id, callOf(fault), duration);
  } catch (error) {
    throw new InvalidError('member', `${id}: ${(error as Error).message}`, id);
  }
}

function callOf(fault: string): string {
  return `member.${fault}`;
}

function notRunning(id: string): UnknownError {
  return new UnknownError(`no running controller has the id ${id}`);
}
