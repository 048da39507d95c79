// All handlers of the fabric API.

import type { Handlers } from '../operations/context.ts';
import { clusterHandlers } from './cluster.ts';
import { fabricEntityHandlers } from './entities.ts';
import { networkHandlers } from './network.ts';

export const fabricHandlers = {
  ...clusterHandlers,
  ...fabricEntityHandlers,
  ...networkHandlers,
} satisfies Partial<Handlers<'fabric'>>;
