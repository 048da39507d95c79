// The caller's own session, identity and second factor: the same in the management and the client API.

import type { Handlers } from '../operations/context.ts';
import { mfaHandlers } from './mfa.ts';
import { sessionHandlers } from './sessions.ts';

export const callerHandlers = { ...sessionHandlers, ...mfaHandlers } satisfies Partial<
  Handlers<'management'> & Handlers<'client'>
>;
