// Enrolling with the token of another issuer, when its signer allows it: for a certificate of this network, or to log in with such
// tokens from then on.

import { leafOf } from '#pki/certificates.ts';
import { bearerTokens } from '../../auth/bearer-tokens.ts';
import { claimAt, type VerifiedToken, verifyExternalToken } from '../../auth/external-jwt.ts';
import { addAuthenticator, certificateProof } from '../../entities/authenticator.ts';
import { Body } from '../../entities/body.ts';
import { freeName, plainIdentity } from '../../entities/identity.ts';
import { ApiError } from '../../errors/errors.ts';
import { readCsr } from '../../pki/csr.ts';
import type { Transaction } from '../../state/transaction.ts';
import type { Answer, ApiRequest } from '../http/context.ts';

export async function enrollWithToken(request: ApiRequest): Promise<Answer> {
  const { services } = request;
  const verified = (await Promise.all(bearerTokens(request).map((each) => verifyExternalToken(services, each)))).find(
    (each) => each !== undefined,
  );
  if (!verified) throw new ApiError('INVALID_ENROLLMENT_TOKEN');
  if (verified.identity) throw new ApiError('ENROLLMENT_IDENTITY_ALREADY_ENROLLED');
  const { enrollToCertEnabled, enrollToTokenEnabled, enrollAuthPolicyId } = verified.signer;
  const primary = services.state.tables.authPolicy.get(enrollAuthPolicyId)?.primary;
  const body = typeof request.body === 'object' ? new Body(request.body, 'create') : undefined;
  const clientCsr = body?.text('clientCsr') || undefined;
  // The auth policy may have changed since the signer was allowed to enroll: whoever enrolls has to be able to log in afterwards.
  const isAllowed =
    clientCsr === undefined
      ? enrollToTokenEnabled && primary?.extJwt.allowed
      : enrollToCertEnabled && primary?.cert.allowed;
  if (!isAllowed) throw new ApiError('INVALID_ENROLLMENT_NOT_ALLOWED');
  const id = services.state.ids.short();
  if (clientCsr === undefined) {
    await services.state.change((transaction) => addIdentity(transaction, id, verified));
    return { data: {} };
  }
  const csr = await readCsr(clientCsr);
  const cert = services.authority.signIdentity(csr, id);
  await services.state.change((transaction) => {
    addIdentity(transaction, id, verified);
    const proof = { ...certificateProof(leafOf(cert)), certPem: cert };
    addAuthenticator(transaction, { id: services.state.ids.short(), identityId: id, proof });
  });
  return { data: { cert, ca: services.authority.bundle } };
}

/** Named and given attributes by the claims that the signer selects; known again by the claim that it logs in with. */
function addIdentity(transaction: Transaction, id: string, { signer, claims, subject }: VerifiedToken): void {
  const name = claimAt(claims, signer.enrollNameClaimsSelector);
  const attributes =
    signer.enrollAttributeClaimsSelector === '' ? [] : claimAt(claims, signer.enrollAttributeClaimsSelector);
  const roleAttributes = [attributes].flat().filter((each): each is string => typeof each === 'string' && each !== '');
  if (transaction.tables.identity.findBy('externalId', subject))
    throw new ApiError('ENROLLMENT_IDENTITY_ALREADY_ENROLLED');
  transaction.put('identity', {
    ...plainIdentity(transaction, id, freeName(transaction, typeof name === 'string' && name !== '' ? name : subject)),
    externalId: subject,
    authPolicyId: signer.enrollAuthPolicyId,
    roleAttributes: [...new Set(roleAttributes)].sort(),
  });
}
