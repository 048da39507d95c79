// The caller's second factor: enroll, verify, authenticate, renew its recovery codes, remove.

import type { CreateLocation, DetailMfa, DetailMfaRecoveryCodes, Links, TotpToken } from '#schemas/api/gen/answers.ts';
import type { MfaCode } from '#schemas/api/gen/bodies.ts';
import {
  abandonTotp,
  type CodeOptions,
  enrollTotp,
  ownMfa,
  redeemCode,
} from '../../auth/second-factor/second-factor.ts';
import { LOGIN, newRecoveryCodes, provisioningUrl } from '../../auth/second-factor/totp.ts';
import { ApiError } from '../../errors/errors.ts';
import type { ApiSession } from '../../state/kinds/api-session.ts';
import type { Identity } from '../../state/kinds/identity.ts';
import type { Mfa } from '../../state/kinds/mfa.ts';
import type { Transaction } from '../../state/transaction.ts';
import type { ApiRequest, Data, Done, Handlers, Raw } from '../operations/context.ts';

/** The components that check a code. */
type CodeUse = 'state' | 'codeGuesses' | 'clock';

const QR_SIZE = 256;
const LINKS = { self: { href: './current-identity/mfa' } };
const OWNER = { 'current-identity': { href: './current-identity' } };

export const mfaHandlers = {
  enrollMfa: enroll,
  detailMfa: detail,
  deleteMfa: remove,
  verifyMfa: verify,
  detailMfaQrCode: qrCode,
  detailMfaRecoveryCodes: recoveryCodes,
  createMfaRecoveryCodes: renewRecoveryCodes,
  authenticateMfa: authenticate,
  createTotpToken: totpToken,
} satisfies Partial<Handlers<'management'> & Handlers<'client'>>;

function mfaOf({ services, identity }: ApiRequest<'state'>): Mfa | undefined {
  return ownMfa(services, identity as Identity);
}

/** @throws ApiError for a code that is wrong, or was used before */
async function useCode(
  { services }: ApiRequest<CodeUse>,
  mfa: Mfa,
  code: string,
  options: CodeOptions = {},
): Promise<void> {
  if (!(await redeemCode(services, mfa, code, options))) throw new ApiError('MFA_INVALID_TOKEN');
}

/** Rejects recovery codes: for operations that prove possession of the app or protect the recovery codes. */
function usePassword(request: ApiRequest<CodeUse>, mfa: Mfa, code: string, act?: CodeOptions['act']): Promise<void> {
  return useCode(request, mfa, code, { passwordOnly: true, ...(act && { act }) });
}

/** The code from the header, or from the query, as the reference accepts both. */
function headerCode({ headers, query }: ApiRequest<never>): string {
  const given = headers['mfa-validation-code'] ?? query.get('code') ?? '';
  return Array.isArray(given) ? (given[0] ?? '') : given;
}

async function enroll({ services, identity }: ApiRequest<'state' | 'random'>): Promise<Data<CreateLocation>> {
  const { id } = await enrollTotp(services, identity as Identity);
  return { data: { _links: LINKS, id } };
}

/** Includes the data that the owner's app needs while it is unverified. */
function detail(request: ApiRequest<'state'>): Data<DetailMfa> {
  const mfa = mfaOf(request);
  if (!mfa) throw new ApiError('NOT_FOUND');
  const { id, createdAt, updatedAt, tags, isVerified, recoveryCodes: codes } = mfa;
  const secrets = isVerified
    ? { recoveryCodes: null }
    : { provisioningUrl: provisioningUrl(mfa, (request.identity as Identity).name), recoveryCodes: codes };
  return { data: { _links: mfaLinks(isVerified), id, createdAt, updatedAt, tags, isVerified, ...secrets } };
}

function mfaLinks(isVerified: boolean): Links {
  const more = isVerified ? ['recovery-codes'] : ['verify', 'qr'];
  return {
    ...LINKS,
    ...OWNER,
    ...Object.fromEntries(
      more.map((name) => [name, { href: `./current-identity/mfa/${name === 'qr' ? 'qr-code' : name}` }]),
    ),
  };
}

/** Removing a verified second factor requires a code. */
async function remove(request: ApiRequest<CodeUse>): Promise<Done> {
  const mfa = mfaOf(request);
  if (!mfa) throw new ApiError('NOT_FOUND');
  if (mfa.isVerified)
    await useCode(request, mfa, headerCode(request), { act: (transaction) => transaction.delete('mfa', mfa.id) });
  else if (!(await abandonTotp(request.services, mfa))) throw new ApiError('MFA_INVALID_TOKEN');
  return { data: {} };
}

/** A second factor that waits for its first code. Until then its secret is readable. */
function unverifiedMfa(request: ApiRequest<'state'>): Mfa {
  const mfa = mfaOf(request);
  if (!mfa || mfa.isVerified) throw new ApiError('NOT_FOUND');
  return mfa;
}

async function verify(request: ApiRequest<'posture' | CodeUse, MfaCode>): Promise<Done> {
  const mfa = unverifiedMfa(request);
  await usePassword(request, mfa, request.body.code, (transaction) => {
    transaction.patch('mfa', mfa.id, { isVerified: true });
    transaction.patch('apiSession', (request.session as ApiSession).id, { isMfaRequired: true, isMfaComplete: true });
  });
  await request.services.posture.passedMfa(request.session as ApiSession);
  return { data: {} };
}

async function qrCode(request: ApiRequest<'state'>): Promise<Raw> {
  const mfa = unverifiedMfa(request);
  const url = provisioningUrl(mfa, (request.identity as Identity).name);
  const { toBuffer } = await import('qrcode');
  return { raw: await toBuffer(url, { type: 'png', width: QR_SIZE }), contentType: 'image/png' };
}

/** reference fact: without a second factor, the recovery codes are not found. */
function mfaWithCodes(request: ApiRequest<'state'>): Mfa {
  const mfa = mfaOf(request);
  if (!mfa?.isVerified) throw new ApiError('NOT_FOUND');
  return mfa;
}

async function recoveryCodes(request: ApiRequest<CodeUse, MfaCode | undefined>): Promise<Data<DetailMfaRecoveryCodes>> {
  const mfa = mfaWithCodes(request);
  await usePassword(request, mfa, request.body?.code || headerCode(request));
  const { id, createdAt, updatedAt, tags } = mfa;
  return { data: { _links: mfaLinks(true), id, createdAt, updatedAt, tags, recoveryCodes: mfa.recoveryCodes } };
}

async function renewRecoveryCodes(request: ApiRequest<CodeUse | 'random', MfaCode>): Promise<Done> {
  const mfa = mfaWithCodes(request);
  const { random } = request.services;
  await usePassword(request, mfa, request.body.code, (transaction) =>
    transaction.patch('mfa', mfa.id, { recoveryCodes: newRecoveryCodes(random) }),
  );
  return { data: {} };
}

/** reference fact: an unverified second factor is accepted, too. */
async function authenticate(request: ApiRequest<'posture' | CodeUse, MfaCode>): Promise<Done> {
  const mfa = mfaOf(request);
  if (!mfa) throw new ApiError('MFA_NOT_ENROLLED');
  const session = request.session as ApiSession;
  const act = (transaction: Transaction) => transaction.patch('apiSession', session.id, { isMfaComplete: true });
  await useCode(request, mfa, request.body.code, { by: LOGIN, act });
  await request.services.posture.passedMfa(session);
  return { data: {} };
}

/** For OIDC sessions: proves to routers and to the token endpoint that a one-time password was given. */
async function totpToken(
  request: ApiRequest<'posture' | 'state' | 'tokens' | 'codeGuesses' | 'clock', MfaCode>,
): Promise<Data<TotpToken>> {
  const isKept = request.services.state.tables.apiSession.has(request.session?.id ?? '');
  if (isKept) throw new ApiError('INVALID_BACKING_TOKEN_TYPE');
  const mfa = mfaOf(request);
  if (!mfa?.isVerified) throw new ApiError('MFA_NOT_ENROLLED');
  const session = request.session as ApiSession;
  await useCode(request, mfa, request.body.code, { by: session.id });
  const { tokens, clock, posture } = request.services;
  await posture.passedMfa(session);
  const issuedAt = new Date(clock.now()).toISOString();
  return { data: { token: await tokens.totp(session.id, session.identityId), issuedAt } };
}
