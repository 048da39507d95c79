// Operations that the management and the client API have in common.

import type { Handlers } from '../http/context.ts';
import { documentHandlers, informationHandlers } from '../information/information.ts';
import { mfaHandlers } from './mfa.ts';
import { sessionHandlers } from './sessions.ts';

export const sharedHandlers: Handlers = {
  ...informationHandlers,
  ...documentHandlers,
  ...mfaHandlers,
  ...sessionHandlers,
};
