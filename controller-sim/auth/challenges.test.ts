// The challenges that tell a client which token it lacks.

import t from 'tap';
import type { ExternalJwtSigner } from '../state/kinds/external-jwt-signer.ts';
import { challenge, sessionChallenge } from './challenges.ts';

const MISSING =
  'zt-session realm="zt-session" error="missing" error_description="no matching token was provided",' +
  'Bearer realm="openziti-oidc" error="missing" error_description="no matching token was provided"';
const EXPIRED = 'Bearer realm="openziti-oidc" error="expired" error_description="token expired"';
const INVALID = 'Bearer realm="openziti-oidc" error="invalid" error_description="token is invalid"';

const signer = (id: string, issuer: string | null) => ({ id, issuer }) as ExternalJwtSigner;

t.test('a challenge names the acceptable signers, as many as clients read', async (t) => {
  t.equal(
    challenge('secondary', 'missing', [signer('a', 'https://a"\n\\'), signer('b', null)]),
    'Bearer realm="openziti-secondary-ext-jwt" error="missing" ' +
      'error_description="no matching token was provided" id="a|b" issuer="https://a|"',
  );
  const named = (lengths: readonly number[]) =>
    /id="([^"]*)"/.exec(
      challenge(
        'primary',
        'invalid',
        lengths.map((each) => signer('x', 'i'.repeat(each - 1))),
      ),
    )?.[1];
  t.equal(named([4_096]), 'x');
  t.equal(named([4_097]), '');
  t.equal(named([2_048, 2_048, 1]), 'x|x');
  t.equal(named([2_048, 2_049, 1]), 'x', 'further ones are not named, though they are short');
});

t.test('the challenge depends on the token that was given', async (t) => {
  const tokens = {
    verify: async (token: string, { ignoreExpiry = false } = {}) =>
      token.startsWith('valid') || (ignoreExpiry && token.startsWith('expired')) ? {} : undefined,
  };
  const asked = (headers: Record<string, string>) => sessionChallenge({ headers, services: { tokens } });
  t.equal(await asked({}), MISSING);
  t.match(await asked({ 'zt-session': 'x' }), /^zt-session realm="zt-session" error="invalid"/);
  t.equal(await asked({ authorization: 'Bearer valid.a.b' }), INVALID, 'valid, but its session is not');
  t.equal(await asked({ authorization: 'Bearer expired.a.b' }), EXPIRED);
  t.equal(await asked({ authorization: 'Bearer malformed' }), INVALID);
  t.equal(await asked({ authorization: 'Bearer other.a.b' }), MISSING, 'the token of another issuer');
});
