// Logging in and out, and the caller's own identity, session and authenticators.

import type { AuthenticatorDetail, CurrentApiSessionDetail, IdentityDetail } from '#schemas/api/gen/answers.ts';
import type {
  Authenticate,
  AuthenticatorPatchWithCurrent,
  AuthenticatorUpdateWithCurrent,
} from '#schemas/api/gen/bodies.ts';
import { authenticate, type LoginUse } from '../../auth/authenticate.ts';
import { withSecondToken } from '../../auth/session-of.ts';
import { endApiSession } from '../../entities/api-session.ts';
import { updateAuthenticator } from '../../entities/authenticator.ts';
import { Body, type Mode } from '../../entities/body.ts';
import { existing } from '../../entities/common.ts';
import { ApiError, notFound } from '../../errors/errors.ts';
import type { ApiSession } from '../../state/kinds/api-session.ts';
import type { Authenticator } from '../../state/kinds/authenticator.ts';
import type { Identity } from '../../state/kinds/identity.ts';
import { showApiSession } from '../edge/api-sessions.ts';
import { authenticators, showAuthenticator } from '../edge/authenticators.ts';
import { showIdentity } from '../edge/identities.ts';
import type { ApiRequest, Data, Done, Handlers } from '../operations/context.ts';
import { type Listed, list } from '../operations/resource.ts';
import { extendCertificate, verifyExtension } from './extend.ts';

const OWN_LINKS = { self: { href: './current-identity' }, mfa: { href: './current-identity/mfa' } };

const ownAuthenticators: Listed<'authenticator', AuthenticatorDetail, 'state' | 'authority' | 'passwords'> = {
  kind: 'authenticator',
  symbols: authenticators.symbols,
  show: (authenticator, services) => ({
    ...showAuthenticator(authenticator, services),
    _links: { self: { href: `./current-identity/authenticators/${authenticator.id}` } },
  }),
};

export const sessionHandlers = {
  authenticate: login,
  getCurrentAPISession: (
    request: ApiRequest<'state' | 'activity' | 'clock' | 'sessionLifetime'>,
  ): Data<CurrentApiSessionDetail> => ({
    data: own(request.session as ApiSession, request),
  }),
  deleteCurrentAPISession: logout,
  getCurrentIdentity: (request: ApiRequest<'network' | 'state' | 'clock'>): Data<IdentityDetail> => ({
    data: { ...showIdentity(request.identity as Identity, request.services), _links: OWN_LINKS },
  }),
  listCurrentIdentityAuthenticators: list(ownAuthenticators, ({ services, identity }) =>
    services.state.tables.authenticator.referring('identityId', (identity as Identity).id),
  ),
  detailCurrentIdentityAuthenticator: (
    request: ApiRequest<'state' | 'authority' | 'passwords'>,
  ): Data<AuthenticatorDetail> => ({
    data: ownAuthenticators.show(ownAuthenticator(request), request.services, request),
  }),
  updateCurrentIdentityAuthenticator: (
    request: ApiRequest<'state' | 'passwords' | 'lockouts', AuthenticatorUpdateWithCurrent>,
  ) => changePassword(request, 'update'),
  patchCurrentIdentityAuthenticator: (
    request: ApiRequest<'state' | 'passwords' | 'lockouts', AuthenticatorPatchWithCurrent>,
  ) => changePassword(request, 'patch'),
  extendCurrentIdentityAuthenticator: (request: Parameters<typeof extendCertificate>[0]) =>
    extendCertificate(request, extendable(request)),
  extendVerifyCurrentIdentityAuthenticator: (request: Parameters<typeof verifyExtension>[0]) =>
    verifyExtension(request, extendable(request)),
} satisfies Partial<Handlers<'management'> & Handlers<'client'>>;

async function login(
  request: ApiRequest<LoginUse | 'sessionLifetime' | 'activity', Authenticate | undefined>,
): Promise<Data<CurrentApiSessionDetail>> {
  const isAtLab = request.operation.api === 'lab';
  const loggedIn = await authenticate(request, request.query.get('method') ?? '', { isAtLab });
  const { sessionLifetime, state } = request.services;
  const identity = state.tables.identity.get(loggedIn.identityId);
  const { session, challenge } = identity ? await withSecondToken(request, loggedIn, identity) : { session: loggedIn };
  request.challenge = challenge;
  const answered = own(session, request);
  return {
    data: answered,
    headers: {
      'zt-session': session.token,
      'expiration-seconds': String(Math.round(sessionLifetime / 1000)),
      'expires-at': answered.expiresAt,
    },
  };
}

function own(
  session: ApiSession,
  request: ApiRequest<'state' | 'activity' | 'clock' | 'sessionLifetime'>,
): CurrentApiSessionDetail {
  const { sessionLifetime, clock } = request.services;
  const expiresAt = new Date(clock.now() + sessionLifetime).toISOString();
  return {
    ...showApiSession(session, request.services),
    expirationSeconds: Math.round(sessionLifetime / 1000),
    expiresAt,
  };
}

async function logout(request: ApiRequest<'state' | 'unstored'>): Promise<Done> {
  const session = request.session as ApiSession;
  if (request.services.unstored.end(session)) return { data: {} };
  const { id } = session;
  await request.services.state.change((transaction) => {
    existing(transaction, 'apiSession', id);
    endApiSession(transaction, id);
  });
  return { data: {} };
}

function ownAuthenticator({ services, identity, params }: ApiRequest<'state'>): Authenticator {
  const id = params.id ?? '';
  const authenticator = services.state.tables.authenticator.get(id);
  if (authenticator?.identityId !== identity?.id || !authenticator) throw notFound('authenticator', id);
  return authenticator;
}

/**
 * reference fact: extending the authenticator of another identity is unauthorized; other operations answer "not found".
 */
function extendable(request: ApiRequest<'state'>): Authenticator {
  const other = request.services.state.tables.authenticator.get(request.params.id ?? '');
  if (other && other.identityId !== request.identity?.id) throw new ApiError('UNAUTHORIZED');
  return ownAuthenticator(request);
}

/**
 * Changing your password requires the current one: a wrong one counts towards the lock of the identity, as in a login.
 * The first of concurrent changes wins: for the others the password is no longer current.
 */
async function changePassword(
  request: ApiRequest<
    'state' | 'passwords' | 'lockouts',
    AuthenticatorPatchWithCurrent | AuthenticatorUpdateWithCurrent
  >,
  mode: Mode,
): Promise<Done> {
  const { state, passwords, lockouts } = request.services;
  const authenticator = ownAuthenticator(request);
  if (authenticator.method !== 'updb') throw new ApiError('CAN_NOT_UPDATE_AUTHENTICATOR');
  const body = new Body(request.body, mode);
  const { currentPassword = '', password } = request.body;
  const isKnown = await passwords.verify(
    currentPassword,
    authenticator.passwordHash ?? undefined,
    request.remoteAddress,
  );
  const reject = () => {
    const reason = 'invalid current password';
    throw new ApiError('UNAUTHORIZED', { field: 'currentPassword', reason, value: '' });
  };
  const policy = state.tables.authPolicy.get((request.identity as Identity).authPolicyId);
  if (!isKnown && policy) await lockouts.failed(authenticator, policy);
  if (!isKnown || !lockouts.passed(authenticator)) reject();
  const hash = password === undefined || password === null ? undefined : await passwords.hash(password);
  await state.change((transaction) => {
    const current = existing(transaction, 'authenticator', authenticator.id);
    if (current.passwordHash !== authenticator.passwordHash) reject();
    updateAuthenticator(transaction, current, body, hash);
  });
  return { data: {} };
}
