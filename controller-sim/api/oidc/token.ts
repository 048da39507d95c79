// The token endpoint: selects the grant of a request, and checks its client. Each grant has a file in `grants/`.

import { ownValue } from '#lib/json/own-value.ts';
import { CLIENTS } from './authorize.ts';
import { type GrantRequest, OAuthError, type OidcAnswer } from './context.ts';
import { byCode } from './grants/authorization-code.ts';
import { byRefreshToken } from './grants/refresh-token.ts';
import { byExchange } from './grants/token-exchange.ts';
import { clientIdOf, missing, required } from './parameters.ts';

const GRANTS: Readonly<Record<string, (request: GrantRequest) => Promise<OidcAnswer>>> = {
  authorization_code: byCode,
  refresh_token: byRefreshToken,
  'urn:ietf:params:oauth:grant-type:token-exchange': byExchange,
};

export async function token(request: GrantRequest): Promise<OidcAnswer> {
  const grant = ownValue(GRANTS, required(request, 'grant_type'));
  if (!grant) throw new OAuthError('unsupported_grant_type', 'the grant_type is not supported');
  const clientId = clientIdOf(request);
  if (clientId === '') throw missing('client_id');
  if (!CLIENTS.has(clientId)) throw new OAuthError('invalid_client', 'the client is unknown');
  return grant(request);
}
