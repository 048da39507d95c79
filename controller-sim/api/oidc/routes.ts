// The paths of the OIDC API with their handlers, and the discovery document.

import { authorize, callback } from './authorize.ts';
import type { OidcAnswer, OidcHandler, OidcRequest } from './context.ts';
import { issuerOf } from './context.ts';
import { endSession } from './end-session.ts';
import {
  askForPost,
  checkTotp,
  deleteTotpEnrollment,
  listAuthQueries,
  login,
  showLogin,
  startTotpEnrollment,
  verifyTotpEnrollment,
} from './login.ts';
import { messagePage } from './pages.ts';
import { revoke } from './revoke.ts';
import { token } from './token.ts';
import { introspect, userInfo } from './user-info.ts';

export interface OidcRoute {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Relative to the base. */
  readonly path: string;
  readonly handle: OidcHandler;
}

const loggedOut = (): OidcAnswer => messagePage('Logged out', 'You have been logged out.');

export const OIDC_ROUTES: readonly OidcRoute[] = [
  { method: 'GET', path: '/.well-known/openid-configuration', handle: discovery },
  { method: 'GET', path: '/keys', handle: keys },
  { method: 'GET', path: '/authorize', handle: authorize },
  { method: 'POST', path: '/authorize', handle: authorize },
  { method: 'GET', path: '/authorize/callback', handle: callback },
  { method: 'GET', path: '/login/auth-queries', handle: listAuthQueries },
  { method: 'GET', path: '/login/password', handle: showLogin },
  { method: 'POST', path: '/login/password', handle: login('password') },
  { method: 'GET', path: '/login/username', handle: showLogin },
  { method: 'POST', path: '/login/username', handle: login('password') },
  { method: 'GET', path: '/login/cert', handle: askForPost },
  { method: 'POST', path: '/login/cert', handle: login('cert') },
  { method: 'GET', path: '/login/ext-jwt', handle: askForPost },
  { method: 'POST', path: '/login/ext-jwt', handle: login('ext-jwt') },
  { method: 'POST', path: '/login/totp', handle: checkTotp },
  { method: 'POST', path: '/login/totp/enroll', handle: startTotpEnrollment },
  { method: 'DELETE', path: '/login/totp/enroll', handle: deleteTotpEnrollment },
  { method: 'POST', path: '/login/totp/enroll/verify', handle: verifyTotpEnrollment },
  { method: 'POST', path: '/oauth/token', handle: token },
  { method: 'POST', path: '/oauth/introspect', handle: introspect },
  { method: 'GET', path: '/userinfo', handle: userInfo },
  { method: 'POST', path: '/userinfo', handle: userInfo },
  { method: 'POST', path: '/revoke', handle: revoke },
  { method: 'GET', path: '/end_session', handle: endSession },
  { method: 'POST', path: '/end_session', handle: endSession },
  { method: 'GET', path: '/logged-out', handle: loggedOut },
];

function discovery({ services }: OidcRequest<'baseUrl' | 'authority'>): OidcAnswer {
  const issuer = issuerOf(services);
  return {
    status: 200,
    body: {
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/oauth/token`,
      introspection_endpoint: `${issuer}/oauth/introspect`,
      userinfo_endpoint: `${issuer}/userinfo`,
      revocation_endpoint: `${issuer}/revoke`,
      end_session_endpoint: `${issuer}/end_session`,
      jwks_uri: `${issuer}/keys`,
      scopes_supported: ['openid', 'offline_access'],
      response_types_supported: ['code'],
      grant_types_supported: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:token-exchange'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: [services.authority.tokenAlgorithm],
      token_endpoint_auth_methods_supported: ['none', 'client_secret_basic'],
      revocation_endpoint_auth_methods_supported: ['none'],
      claims_supported: ['sub', 'aud', 'exp', 'iat', 'iss', 'auth_time', 'nonce', 'amr', 'azp'],
      code_challenge_methods_supported: ['S256'],
      ui_locales_supported: ['en'],
      request_parameter_supported: false,
      request_uri_parameter_supported: false,
      openziti_endpoints: {
        password: `${issuer}/login/password`,
        cert: `${issuer}/login/cert`,
        ext_jwt: `${issuer}/login/ext-jwt`,
        totp: `${issuer}/login/totp`,
        totp_enroll: `${issuer}/login/totp/enroll`,
        totp_enroll_verify: `${issuer}/login/totp/enroll/verify`,
        auth_queries: `${issuer}/login/auth-queries`,
      },
    },
  };
}

function keys({ services: { authority } }: OidcRequest<'authority'>): OidcAnswer {
  return { status: 200, body: { keys: [authority.publicJwk] } };
}
