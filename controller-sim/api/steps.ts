// What happens to every request, in order: find the session, ask whether it may, act. Each step throws ApiError to refuse.

import type { Answer, ApiRequest, Operation } from '../request/context.ts';
import { ApiError } from '../request/errors.ts';

/** The last activity of a session is written down no more often than this. */
const ACTIVITY_STEP = 60_000;

const STEPS: readonly ((request: ApiRequest, operation: Operation) => void)[] = [
  findSession,
  checkAccess,
  noteActivity,
];

export async function perform(request: ApiRequest, operation: Operation): Promise<Answer> {
  for (const step of STEPS) step(request, operation);
  return operation.handle(request);
}

/** A session that has ended by time is one that is not there. */
function findSession(request: ApiRequest): void {
  const token = request.headers['zt-session'];
  if (typeof token !== 'string') return;
  const { state, clock, sessionLifetime } = request.services;
  const session = state.tables.apiSession.findBy('token', token);
  const identity = session && state.tables.identity.get(session.identityId);
  if (!session || !identity || identity.disabled) return;
  if (clock.now() - new Date(session.lastActivityAt).getTime() > sessionLifetime + ACTIVITY_STEP) return;
  request.session = session;
  request.identity = identity;
}

function checkAccess(request: ApiRequest, operation: Operation): void {
  if (operation.requires === 'anybody') return;
  const { identity } = request;
  if (!identity) throw new ApiError('UNAUTHORIZED');
  if (operation.requires === 'admin' && !identity.isAdmin && !identity.isDefaultAdmin)
    throw new ApiError('UNAUTHORIZED');
}

/** Not awaited: an answer need not wait for it, and a lost one costs a minute of a session. */
function noteActivity(request: ApiRequest): void {
  const { session, services } = request;
  if (!session || services.clock.now() - new Date(session.lastActivityAt).getTime() < ACTIVITY_STEP) return;
  services.state
    .change((transaction) => transaction.patch('apiSession', session.id, { lastActivityAt: transaction.now }))
    .catch((error: unknown) => {
      services.log.warn({ error: String(error) }, 'activity of a session could not be noted');
    });
}
