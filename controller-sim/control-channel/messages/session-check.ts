// Checks whether a client's tokens permit the operation that a router requests for it (reference fact: control channel,
// section 4.4, checks of the controller).

import { isSignedToken } from '#model/session-tokens.ts';
import { EdgeErrorCode, RetryHint } from '#wire/gen/numbers.ts';
import { isPartial } from '../../auth/partial-session.ts';
import { isDisabled } from '../../entities/identity.ts';
import type { PermissionType } from '../../state/entity.ts';
import type { ApiSession } from '../../state/kinds/api-session.ts';
import type { Identity } from '../../state/kinds/identity.ts';
import type { Service } from '../../state/kinds/service.ts';
import type { Session } from '../../state/kinds/session.ts';
import type { Tables } from '../../state/tables.ts';
import type { ControlContext } from '../context.ts';
import { EdgeError } from './edge-error.ts';

/** reference fact: a service without a permission gets the same answer as an unknown one. */
const FINAL = { hint: RetryHint.NotRetriable };
const START_OVER = { hint: RetryHint.StartOver };

/** The components that check a client's session. */
export type SessionComponents = Pick<ControlContext, 'state' | 'access' | 'tokens' | 'revocations' | 'clock'>;

export interface CheckedSession {
  readonly identity: Identity;
  readonly service: Service;
}

/** A session of a service, with the API session that created it. Throws EdgeError. */
export async function checkServiceSession(
  context: SessionComponents,
  routerId: string,
  tokens: { session: string | undefined; apiSession: string | undefined },
  type: PermissionType,
): Promise<CheckedSession> {
  const { state, access, clock } = context;
  const apiSession = await requireApiSession(context, tokens.apiSession);
  const session = await requireSession(context, apiSession, tokens.session);
  if (session.type !== type) {
    throw new EdgeError(
      EdgeErrorCode.WrongSessionType,
      `the session is for ${session.type}, not for ${type}`,
      START_OVER,
    );
  }
  const identity = state.tables.identity.get(session.identityId);
  const service = state.tables.service.get(session.serviceId);
  if (!service)
    throw new EdgeError(EdgeErrorCode.InvalidService, 'the service was deleted', {
      hint: RetryHint.NotRetriable,
    });
  if (!identity || isDisabled(identity, clock.now()))
    throw new EdgeError(EdgeErrorCode.InvalidSession, 'the identity was deleted or disabled', START_OVER);
  // A stored session ends with its right; a signed one is valid until it expires.
  if (!access.may(identity.id, service.id, type))
    throw new EdgeError(EdgeErrorCode.InvalidSession, access.why(identity.id, service.id, type).join('; '), START_OVER);
  if (!access.commonRouters(identity.id, service.id).some(({ id }) => id === routerId)) {
    throw new EdgeError(
      EdgeErrorCode.InvalidEdgeRouterForSession,
      'no policy permits the service for this identity over this router',
      START_OVER,
    );
  }
  return { identity, service };
}

/** An API session, for an identity and a service that the client names. Throws EdgeError. */
export async function checkApiSession(
  context: SessionComponents,
  routerId: string,
  wanted: { apiSession: string | undefined; identityId: string; serviceId: string },
): Promise<CheckedSession> {
  const { state, access, clock } = context;
  const apiSession = await requireApiSession(context, wanted.apiSession);
  const identity = state.tables.identity.get(wanted.identityId);
  if (!identity || apiSession.identityId !== identity.id || isDisabled(identity, clock.now())) {
    throw new EdgeError(EdgeErrorCode.InvalidApiSession, 'the API session belongs to another identity', START_OVER);
  }
  const service = state.tables.service.get(wanted.serviceId);
  if (!service)
    throw new EdgeError(EdgeErrorCode.InvalidService, `service ${wanted.serviceId} not found`, {
      hint: RetryHint.NotRetriable,
    });
  if (!access.may(identity.id, service.id, 'Dial'))
    throw new EdgeError(EdgeErrorCode.InvalidService, access.why(identity.id, service.id, 'Dial').join('; '), FINAL);
  if (!access.commonRouters(identity.id, service.id).some(({ id }) => id === routerId)) {
    throw new EdgeError(EdgeErrorCode.AccessDenied, access.why(identity.id, service.id, 'Dial', routerId).join('; '));
  }
  return { identity, service };
}

/** The identity of a router's tunneler, unless it is disabled at the time `now`. Throws EdgeError. */
export function tunnelerIdentity(
  { identity: identities }: Pick<Tables, 'identity'>,
  routerId: string,
  now: number,
): Identity {
  const identity = identities.get(routerId);
  if (identity?.type !== 'Router')
    throw new EdgeError(EdgeErrorCode.TunnelingNotEnabled, 'the tunneler is not enabled for this router', FINAL);
  if (isDisabled(identity, now))
    throw new EdgeError(EdgeErrorCode.TunnelingNotEnabled, 'the identity of this router is disabled', FINAL);
  return identity;
}

/** The tunneler of a router acts as the identity with the router's id. Throws EdgeError. */
export function checkTunneler(
  { state, access, clock }: Pick<ControlContext, 'state' | 'access' | 'clock'>,
  routerId: string,
  service: Service | undefined,
  type: PermissionType,
): CheckedSession {
  const identity = tunnelerIdentity(state.tables, routerId, clock.now());
  if (!service)
    throw new EdgeError(EdgeErrorCode.InvalidService, 'service not found', { hint: RetryHint.NotRetriable });
  if (!access.may(identity.id, service.id, type))
    throw new EdgeError(EdgeErrorCode.InvalidService, access.why(identity.id, service.id, type).join('; '), FINAL);
  if (!access.commonRouters(identity.id, service.id).some(({ id }) => id === routerId)) {
    throw new EdgeError(
      EdgeErrorCode.InvalidEdgeRouterForSession,
      access.why(identity.id, service.id, type, routerId).join('; '),
    );
  }
  return { identity, service };
}

type PresentedApiSession = Pick<ApiSession, 'id' | 'identityId'> & {
  /** A session in token form: its sessions of services are not stored either. */
  readonly isToken: boolean;
};

async function requireApiSession(
  { state, tokens, revocations }: Pick<ControlContext, 'state' | 'tokens' | 'revocations'>,
  token = '',
): Promise<PresentedApiSession> {
  if (isSignedToken(token)) {
    const claims = await tokens.verifyAccess(token);
    if (claims && !revocations.isRevoked(claims)) return { id: claims.z_asid, identityId: claims.sub, isToken: true };
  }
  const kept = state.tables.apiSession.findBy('token', token);
  if (!kept) throw new EdgeError(EdgeErrorCode.InvalidApiSession, 'API session not found', START_OVER);
  if (isPartial(kept))
    throw new EdgeError(EdgeErrorCode.InvalidApiSession, 'the API session lacks a second factor', START_OVER);
  return { id: kept.id, identityId: kept.identityId, isToken: false };
}

async function requireSession(
  { state, tokens }: Pick<ControlContext, 'state' | 'tokens'>,
  apiSession: PresentedApiSession,
  token = '',
): Promise<Pick<Session, 'identityId' | 'serviceId' | 'type'>> {
  const session = apiSession.isToken ? await tokens.verifySession(token) : state.tables.session.findBy('token', token);
  if (session?.apiSessionId !== apiSession.id || session.identityId !== apiSession.identityId)
    throw new EdgeError(EdgeErrorCode.InvalidSession, 'session not found', START_OVER);
  return session;
}
