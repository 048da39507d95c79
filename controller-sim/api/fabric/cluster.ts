// Cluster members. A simulator is the only member, or not in a cluster.

import { PROTOCOL_VERSION } from '#wire/version-info.ts';
import { Body } from '../../entities/body.ts';
import { ApiError, invalidField } from '../../errors/errors.ts';
import { databaseHandlers } from '../edge/database.ts';
import type { Answer, ApiRequest, Handler, Handlers } from '../http/context.ts';

export const clusterHandlers: Handlers = {
  ...databaseHandlers,
  clusterListMembers: inCluster(listMembers),
  clusterMemberAdd: inCluster(addMember),
  clusterMemberRemove: inCluster(removeMember),
  clusterTransferLeadership: inCluster(transferLeadership),
};

function inCluster(handler: Handler): Handler {
  return (request) => {
    if (!request.services.isClusterMember) throw new ApiError('SERVER_NOT_RUNNING_IN_HA_MODE');
    return handler(request);
  };
}

function listMembers({ services: { controllerId: id, controlAddress: address } }: ApiRequest): Answer {
  const member = {
    id,
    address,
    voter: true,
    leader: true,
    version: PROTOCOL_VERSION,
    connected: true,
    readOnly: false,
  };
  return { raw: JSON.stringify({ data: [member] }), contentType: 'application/json' };
}

function addMember({ body }: ApiRequest): Answer {
  const address = new Body(body, 'create').text('address') ?? '';
  const reason = `unable to add cluster member for supplied address: no controller of this kind answers at ${address}`;
  throw invalidField('address', reason, address);
}

function removeMember({ body, services }: ApiRequest): Answer {
  const id = new Body(body, 'create').text('id') ?? '';
  const why =
    id === services.controllerId ? 'the only member cannot be removed' : `no cluster node found with id ${id}`;
  throw invalidField('id', `unable to remove cluster member: ${why}`, id);
}

/** reference fact: the only member has nobody to transfer its leadership to. */
function transferLeadership({ body, services }: ApiRequest): Answer {
  const id = new Body(body, 'create').text('newLeaderId') ?? '';
  throw new ApiError('TRANSFER_LEADERSHIP_ERROR', {
    code: 'UNHANDLED',
    message: whyNotTransferred(id, services.controllerId),
  });
}

function whyNotTransferred(id: string, controllerId: string): string {
  if (id === '') return 'error transferring leadership: cannot find peer';
  if (id === controllerId) return 'error transferring leadership: cannot transfer leadership to itself';
  return `no cluster node found with id ${id}`;
}
