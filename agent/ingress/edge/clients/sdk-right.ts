// The right of an SDK client to a service: by the token of a service session, or by its API session alone (reference
// fact: edge, sections 5 and 8).

import { describeError } from '#lib/errors.ts';
import type { Clock } from '#lib/time/clock.ts';
import { isSignedToken } from '#model/session-tokens.ts';
import { EdgeErrorCode, SdkHeader } from '#wire/gen/numbers.ts';
import type { Message } from '#wire/message.ts';
import type { Access } from '../../../access/access.ts';
import type { DataModel, Permission } from '../../../access/data-model.ts';
import type { LegacySessions } from '../../../access/legacy-sessions.ts';
import { type ServiceClaims, TokenError, type Tokens } from '../../../access/tokens.ts';
import type { Right } from './right.ts';
import type { SdkConnection } from './sdk-connection.ts';
import { SdkRejection } from './sdk-messages.ts';

export interface RightComponents {
  clock: Clock;
  model: DataModel;
  access: Access;
  legacySessions: LegacySessions;
  tokens: Tokens;
}

const SERVICE_BY_NAME = 1;
/** Characters of a name in errors and in the log. */
const MAX_NAME_LENGTH = 200;
/** Failing checks of which an error says why they fail; it lists the ids of all. */
const MAX_EXPLAINED = 20;
/** Characters. */
const MAX_EXPLANATION_LENGTH = 2_000;

/** The right of the API session to a service that the client names. @throws SdkRejection */
export function rightByService(
  { model }: Pick<RightComponents, 'model'>,
  connection: SdkConnection,
  request: Message,
): Right {
  if (!connection.session.claims)
    throw new SdkRejection('connect-v2 requires an OIDC API session', { code: EdgeErrorCode.InvalidApiSessionType });
  const named = request.string(SdkHeader.ServiceIdentifier) ?? '';
  const isName = request.headers.get(SdkHeader.ServiceIdentifierType)?.[0] === SERVICE_BY_NAME;
  const service = isName ? model.serviceByName(named) : model.services.get(named);
  if (!service)
    throw new SdkRejection(`service ${named.slice(0, MAX_NAME_LENGTH)} not found`, {
      code: EdgeErrorCode.InvalidService,
    });
  return { serviceId: service.id, permission: 'dial', serviceSession: undefined };
}

/** The right of a service session's token, before `requireAccess`. @throws SdkRejection */
export async function rightByToken(
  { model, tokens }: Pick<RightComponents, 'model' | 'tokens'>,
  connection: SdkConnection,
  token: string,
  permission: Permission,
): Promise<Right> {
  if (!isSignedToken(token)) {
    // Controllers before 2.0 issued opaque tokens; the reference reads such a token as a service id.
    if (permission === 'bind')
      throw new SdkRejection('Invalid Session: the token is not signed', { code: EdgeErrorCode.InvalidSession });
    if (!model.services.has(token))
      throw new SdkRejection('Invalid Session: the token is neither signed nor the id of a service', {
        code: EdgeErrorCode.InvalidService,
      });
    return { serviceId: token, permission, serviceSession: { token, id: undefined } };
  }
  const claims = await serviceClaims(tokens, connection, token);
  if (claims.z_st !== (permission === 'dial' ? 'Dial' : 'Bind'))
    throw new SdkRejection(`rejecting ${permission}, invalid session type. the session is for ${claims.z_st}`, {
      code: EdgeErrorCode.WrongSessionType,
    });
  return { serviceId: claims.sub, permission, serviceSession: { token, id: claims.jti } };
}

async function serviceClaims(tokens: Tokens, connection: SdkConnection, token: string): Promise<ServiceClaims> {
  try {
    return await tokens.service(token, connection.session.id);
  } catch (error) {
    if (!(error instanceof TokenError)) throw error;
    const text = `Invalid Session: ${describeError(error)}`;
    throw new SdkRejection(text, { code: EdgeErrorCode.InvalidSession }, { cause: error });
  }
}

/**
 * The router decides about token sessions; the controller has already decided about the others. @throws SdkRejection
 */
export function requireAccess(
  { access, clock, legacySessions, model }: Pick<RightComponents, 'access' | 'clock' | 'legacySessions' | 'model'>,
  connection: SdkConnection,
  { serviceId, permission, serviceSession }: Right,
): void {
  if (serviceSession && legacySessions.isRemovedServiceSession(serviceSession))
    throw new SdkRejection('Invalid Session: the session was removed', { code: EdgeErrorCode.InvalidSession });
  const name = model.services.get(serviceId)?.name;
  if (name === undefined)
    throw new SdkRejection(`service ${serviceId} not found`, { code: EdgeErrorCode.InvalidService });
  if (!connection.session.claims) return;
  const now = clock.now();
  const verdict = access.decide(connection.subject, serviceId, permission, now);
  if (verdict.granted) return;
  const { failingChecks } = verdict;
  if (failingChecks.length === 0)
    throw new SdkRejection(`no ${permission} policy grants the identity access to service ${name}`, {
      code: EdgeErrorCode.AccessDenied,
    });
  const why = access.explain(failingChecks.slice(0, MAX_EXPLAINED), connection.subject.posture, now).join('; ');
  throw new SdkRejection(`posture checks fail for service ${name}: ${why.slice(0, MAX_EXPLANATION_LENGTH)}`, {
    code: EdgeErrorCode.PostureCheckFailed,
    failingChecks,
  });
}
