// Faults of the members of a cluster. Any member takes the request, and passes it on to the one that it names.

import type { MemberPause } from '#schemas/api/gen/bodies.ts';
import { InvalidError, UnknownError } from '../../lab/lab-error.ts';
import type { MemberFaults } from '../../lab/member-faults.ts';
import type { ApiRequest, ApiServices, Done } from '../operations/context.ts';
import { labHandler } from './lab-handler.ts';

/** The faults by their name in calls between members. */
const FAULTS = {
  partition: (member: MemberFaults) => member.partition(),
  heal: (member: MemberFaults) => member.heal(),
  pause: (member: MemberFaults, duration?: string) => member.pause(duration),
  kill: (member: MemberFaults) => member.kill(),
} as const;
type Fault = keyof typeof FAULTS;

export const memberHandlers = {
  rejoinMember: labHandler(async (_lab, { params: { id = '' }, services: { cluster } }): Promise<Done> => {
    if (!(await cluster.rejoin(id))) throw notRunning(id);
    return { data: {} };
  }),
  partitionMember: labHandler((_lab, request) => cause('partition', request)),
  healMember: labHandler((_lab, request) => cause('heal', request)),
  pauseMember: labHandler<Done, MemberPause | undefined>((_lab, request) =>
    cause('pause', request, request.body?.duration ?? undefined),
  ),
  killMember: labHandler((_lab, request) => cause('kill', request)),
};

/** Lets other members cause the faults of this one. */
export function serveMemberFaults({ peers, lab }: Pick<ApiServices, 'peers' | 'lab'>): void {
  for (const [fault, act] of Object.entries(FAULTS))
    peers.serve(callOf(fault), (duration) => act(lab.member, typeof duration === 'string' ? duration : undefined));
}

async function cause(fault: Fault, { params, services }: ApiRequest, duration?: string): Promise<Done> {
  const { id = '' } = params;
  const { cluster, peers, controllerId, lab } = services;
  if (id === controllerId) FAULTS[fault](lab.member, duration);
  else await callOther();
  return { data: {} };

  /** A member that is cut off counts as disconnected, and answers. */
  async function callOther(): Promise<void> {
    if (!cluster.find(id)) throw notRunning(id);
    try {
      await peers.call(id, callOf(fault), duration);
    } catch (error) {
      throw new InvalidError('member', `${id}: ${(error as Error).message}`, id);
    }
  }
}

function callOf(fault: string): string {
  return `member.${fault}`;
}

function notRunning(id: string): UnknownError {
  return new UnknownError(`no running controller has the id ${id}`);
}
