// The client API: what answers each of its operations.

import { enrollmentHandlers } from '../enrollment/handlers.ts';
import type { Handlers } from '../http/context.ts';
import { certificateHandlers } from '../own/certificates.ts';
import { sharedHandlers } from '../own/handlers.ts';
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
