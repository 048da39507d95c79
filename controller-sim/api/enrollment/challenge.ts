// Proves that the controller holds its token key: signs the client's nonce (specification: controller challenge).

import { sign } from 'node:crypto';
import type { NonceSignature } from '#schemas/api/gen/answers.ts';
import type { NonceChallenge } from '#schemas/api/gen/bodies.ts';
import { invalid } from '../../errors/errors.ts';
import type { ApiRequest, Raw } from '../operations/context.ts';

export function signChallenge({ services: { authority }, body }: ApiRequest<'authority', NonceChallenge>): Raw {
  const { keyId, nonce } = body;
  if (keyId !== authority.keyId) throw invalid('keyId', 'no key of this controller has this id', keyId);
  // The signature format of tokens. The option affects EC keys only.
  const key = { key: authority.signingKey, dsaEncoding: 'ieee-p1363' } as const;
  const answer: NonceSignature = {
    algorithm: authority.tokenAlgorithm,
    kid: keyId,
    signature: sign('sha256', Buffer.from(nonce), key).toString('base64'),
    caPool: authority.bundle,
  };
  return { raw: JSON.stringify(answer), contentType: 'application/json' };
}
