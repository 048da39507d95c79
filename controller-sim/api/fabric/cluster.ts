// Members of a cluster, and the data as a whole. A simulator that stands alone has no members to change.

import type { Answer, ApiRequest, Handlers } from '../../request/context.ts';
import { ApiError } from '../../request/errors.ts';
import { databaseHandlers } from '../shared/database.ts';

export const clusterHandlers: Handlers = {
  ...databaseHandlers,
  clusterListMembers: standsAlone,
  clusterMemberAdd: standsAlone,
  clusterMemberRemove: standsAlone,
  clusterTransferLeadership: standsAlone,
};

function standsAlone(_request: ApiRequest): Answer {
  throw new ApiError('SERVER_NOT_RUNNING_IN_HA_MODE');
}
