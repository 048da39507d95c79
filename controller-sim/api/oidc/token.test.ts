// Sessions that are revoked while a request for their tokens is in progress.

import { X509Certificate } from 'node:crypto';
import t from 'tap';
import { sha1Fingerprint } from '#pki/certificates.ts';
import { newRequest } from '../../../test/support/clients/api-client.ts';
import { makeAuthority } from '../../../test/support/clients/certificates.ts';
import { TokenKind } from '../../pki/tokens.ts';
import type { ApiServices } from '../operations/context.ts';
import type { FullOidcRequest } from './context.ts';
import { token } from './token.ts';

const baseUrl = 'https://127.0.0.1:1280';
const TYPE = 'urn:ietf:params:oauth:token-type:';

t.test('a session that is revoked during a refresh or an exchange gets no further tokens', async (t) => {
  const pem = (await makeAuthority('leaf')).certificate.toString('pem');
  const leaf = new X509Certificate(pem);
  let isRevoked = false;
  const claimsOf = (z_t: string) => {
    const binding = { z_cfs: [sha1Fingerprint(leaf)], z_acf: sha1Fingerprint(leaf), z_cae: true };
    return { jti: 'token', iss: `${baseUrl}/oidc`, sub: 'anna', client_id: 'native', scope: 'openid', z_t, ...binding };
  };
  const services = {
    baseUrl,
    clock: { now: () => 0 },
    state: { ids: { uuid: () => '', long: () => '' }, tables: { identity: new Map([['anna', { id: 'anna' }]]) } },
    tokens: { verify: async (kind: string) => claimsOf(kind), oidc: async () => 'a token', isOidcIssuer: () => true },
    events: { emit: () => undefined },
    authority: {
      signIdentity: () => {
        isRevoked ||= revokedBy === 'certificate';
        return pem;
      },
    },
    revocations: {
      isRevoked: () => isRevoked,
      use: async () => {
        isRevoked ||= revokedBy === 'use';
        return true;
      },
    },
  } as unknown as ApiServices;
  const refresh = { grant_type: 'refresh_token', refresh_token: TokenKind.Refresh };
  const exchange = {
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    subject_token: TokenKind.Access,
    subject_token_type: `${TYPE}access_token`,
  };
  let revokedBy = '';
  for (const [fields, event] of [
    [refresh, 'use'],
    [refresh, 'certificate'],
    [exchange, 'certificate'],
  ] as const) {
    const body = { ...fields, client_id: 'native', csr_pem: newRequest('anna').csr };
    const request = { services, body, headers: {}, certificates: [leaf] } as unknown as FullOidcRequest;
    isRevoked = false;
    revokedBy = '';
    t.equal((await token(request)).status, 200, 'without a revocation');
    revokedBy = event;
    await t.rejects(token(request), { code: 'invalid_grant' }, `${fields.grant_type}, ${event}`);
  }
});
