// Handlers of operations that only clients call: their services, sessions of services, and posture.

import type { Handlers } from '../operations/context.ts';
import { postureHandlers } from './posture.ts';
import { clientServiceHandlers } from './services.ts';
import { clientSessionHandlers } from './sessions.ts';

export const clientHandlers = {
  ...postureHandlers,
  ...clientServiceHandlers,
  ...clientSessionHandlers,
} satisfies Partial<Handlers<'client'>>;
