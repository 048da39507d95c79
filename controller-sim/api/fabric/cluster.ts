// The members of the cluster. Controllers join by their start with a common store, and need no invitation.

import type { ClusterMembers } from '#schemas/api/gen/answers.ts';
import type { ClusterMemberAdd, ClusterMemberRemove, ClusterTransferLeadership } from '#schemas/api/gen/bodies.ts';
import { memberStatuses } from '../../cluster/member-status.ts';
import { ApiError, invalidField } from '../../errors/errors.ts';
import { databaseHandlers } from '../edge/database.ts';
import type { ApiRequest, ApiServices, Done, Handlers, Raw } from '../operations/context.ts';

export const clusterHandlers = {
  ...databaseHandlers,
  clusterListMembers: inCluster(listMembers),
  clusterMemberAdd: inCluster(addMember),
  clusterMemberRemove: inCluster(removeMember),
  clusterTransferLeadership: inCluster(transferLeadership),
} satisfies Partial<Handlers<'fabric'>>;

/** The handler for members of a cluster; other controllers reject its requests. */
function inCluster<Uses extends keyof ApiServices, Body, Answer>(
  handler: (request: ApiRequest<Uses, Body>) => Answer,
): (request: ApiRequest<Uses | 'cluster', Body>) => Answer {
  return (request) => {
    if (!request.services.cluster.isEnabled) throw new ApiError('SERVER_NOT_RUNNING_IN_HA_MODE');
    return handler(request);
  };
}

/**
 * The reference's fields, and, of several members, how far each is behind, and why. A member that does not follow
 * changes nothing.
 */
function listMembers({ services: { cluster, state } }: ApiRequest<'cluster' | 'state'>): Raw {
  const members = memberStatuses(cluster, state);
  const data: ClusterMembers = members.map((member) => ({
    id: member.id,
    address: member.controlAddress,
    voter: true,
    leader: member.isLeader,
    version: member.version,
    connected: member.isConnected,
    readOnly: member.problem !== undefined,
    ...(members.length > 1 && { index: Number(member.index), behind: Number(member.behind) }),
    ...(member.problem !== undefined && { problem: member.problem }),
  }));
  return { raw: JSON.stringify({ data }), contentType: 'application/json' };
}

/** reference fact: an address of a member is accepted again. */
function addMember({ body: { address }, services: { cluster } }: ApiRequest<'cluster', ClusterMemberAdd>): Done {
  if (cluster.membership.members.some(({ controlAddress }) => controlAddress === address)) return { data: {} };
  const reason = `unable to add cluster member for supplied address: no controller of this kind answers at ${address}`;
  throw invalidField('address', reason, address);
}

/** A running member would join again, so it must stop first. */
async function removeMember({
  body: { id },
  services: { cluster },
}: ApiRequest<'cluster', ClusterMemberRemove>): Promise<Done> {
  const rejected = (why: string) => invalidField('id', `unable to remove cluster member: ${why}`, id);
  const member = cluster.find(id);
  if (cluster.membership.members.length === 1 && member) throw rejected('the only member cannot be removed');
  if (member?.isConnected) throw rejected('it runs; stop it first');
  if (!member || !(await cluster.remove(id))) throw rejected(`no cluster node found with id ${id}`);
  return { data: {} };
}

async function transferLeadership({
  body,
  services: { cluster },
}: ApiRequest<'cluster', ClusterTransferLeadership>): Promise<Done> {
  const given = body.newLeaderId ?? '';
  const { members, leaderId } = cluster.membership;
  const id = given === '' ? members.find((each) => each.isConnected && each.id !== leaderId)?.id : given;
  const why = whyNotTransferred(id, leaderId);
  if (why === undefined && id !== undefined && (await cluster.transfer(id))) return { data: {} };
  throw new ApiError('TRANSFER_LEADERSHIP_ERROR', {
    code: 'UNHANDLED',
    message: why ?? `no cluster node found with id ${given}`,
  });
}

function whyNotTransferred(id: string | undefined, leaderId: string | undefined): string | undefined {
  if (id === undefined) return 'error transferring leadership: cannot find peer';
  return id === leaderId ? 'error transferring leadership: cannot transfer leadership to itself' : undefined;
}
