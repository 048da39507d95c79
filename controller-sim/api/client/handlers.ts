// The client API: what answers each of its operations.

import type { Handlers } from '../../request/context.ts';
import { sharedHandlers } from '../shared/handlers.ts';
import { certificateHandlers } from './certificates.ts';
import { enrollmentHandlers } from './enrollment.ts';
import { postureHandlers } from './posture.ts';
import { clientServiceHandlers } from './services.ts';
import { clientSessionHandlers } from './sessions.ts';

export const clientHandlers: Handlers = {
  ...sharedHandlers,
  ...certificateHandlers,
  ...enrollmentHandlers,
  ...postureHandlers,
  ...clientServiceHandlers,
  ...clientSessionHandlers,
};
