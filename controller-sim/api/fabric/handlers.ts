// The fabric API: what answers each of its operations.

import type { Handlers } from '../http/context.ts';
import { documentHandlers } from '../information/information.ts';
import { clusterHandlers } from './cluster.ts';
import { fabricEntityHandlers } from './entities.ts';
import { networkHandlers } from './network.ts';

export const fabricHandlers: Handlers = {
  ...documentHandlers,
  ...clusterHandlers,
  ...fabricEntityHandlers,
  ...networkHandlers,
};
