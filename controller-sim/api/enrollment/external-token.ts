// Enrolls with the token of another issuer, if its signer permits it. The identity gets a certificate of this network,
// or logs in with such tokens.

import { leafOf } from '#pki/certificates.ts';
import type { Enrolled } from '#schemas/api/gen/answers.ts';
import { bearerTokens } from '../../auth/tokens/bearer-tokens.ts';
import { claimAt, permitsSigner, type VerifiedToken, verifyExternalToken } from '../../auth/tokens/external-jwt.ts';
import { addAuthenticator, certificateProof } from '../../entities/authenticator.ts';
import { freeName, plainIdentity } from '../../entities/identity.ts';
import { ApiError } from '../../errors/errors.ts';
import { readCsr } from '../../pki/csr.ts';
import type { Transaction } from '../../state/transaction.ts';
import type { ApiRequest, Data } from '../operations/context.ts';
import { type EnrollmentBody, fieldsOf } from './enrollment-body.ts';

export async function enrollWithToken(
  request: ApiRequest<'state' | 'authority' | 'jwks' | 'clock' | 'log', EnrollmentBody>,
): Promise<Data<Enrolled>> {
  const { services } = request;
  const verified = (await Promise.all(bearerTokens(request).map((each) => verifyExternalToken(services, each)))).find(
    (each) => each !== undefined,
  );
  if (!verified) throw new ApiError('INVALID_ENROLLMENT_TOKEN');
  if (verified.identity) throw new ApiError('ENROLLMENT_IDENTITY_ALREADY_ENROLLED');
  const { id: signerId, enrollToCertEnabled, enrollToTokenEnabled, enrollAuthPolicyId } = verified.signer;
  const primary = services.state.tables.authPolicy.get(enrollAuthPolicyId)?.primary;
  const clientCsr = fieldsOf(request.body).clientCsr || undefined;
  // The auth policy may have changed since the signer was permitted to enroll. The new identity must be able to log in.
  const isAllowed =
    clientCsr === undefined
      ? enrollToTokenEnabled && primary && permitsSigner(primary, signerId)
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

/**
 * The signer selects the claims for name and attributes, and the claim that identifies the token at logins. Throws
 * ApiError for a token without a name, or with attributes that are not texts.
 */
function addIdentity(transaction: Transaction, id: string, { signer, claims, subject }: VerifiedToken): void {
  const name = claimAt(claims, signer.enrollNameClaimsSelector);
  const selector = signer.enrollAttributeClaimsSelector;
  const roleAttributes = [(selector === '' ? undefined : claimAt(claims, selector)) ?? []].flat();
  if (typeof name !== 'string' || name === '' || !roleAttributes.every((each) => typeof each === 'string'))
    throw new ApiError('INVALID_ENROLLMENT_TOKEN');
  if (transaction.tables.identity.findBy('externalId', subject))
    throw new ApiError('ENROLLMENT_IDENTITY_ALREADY_ENROLLED');
  transaction.put('identity', {
    ...plainIdentity(transaction, id, freeName(transaction, name)),
    externalId: subject,
    authPolicyId: signer.enrollAuthPolicyId,
    roleAttributes: [...new Set(roleAttributes)].filter((each) => each !== '').sort(),
  });
}
