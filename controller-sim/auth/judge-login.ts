// Decides whether a proof logs an identity in, from the data of the network and the time: the login asks it, and `why`
// asks it before anybody logs in, so that both agree. It has no effects; wrong passwords are counted by the login.

import type { X509Certificate } from 'node:crypto';
import { validity } from '#pki/certificate-chain.ts';
import { commonName, sha1Fingerprint } from '#pki/certificates.ts';
import { externalIdOf } from '../entities/external-id.ts';
import { isDisabled } from '../entities/identity.ts';
import { validityTimes } from '../pki/validity-times.ts';
import type { AuthPolicy } from '../state/kinds/auth-policy.ts';
import type { Authenticator } from '../state/kinds/authenticator.ts';
import type { CertificateAuthority } from '../state/kinds/ca.ts';
import type { ExternalJwtSigner } from '../state/kinds/external-jwt-signer.ts';
import type { Identity } from '../state/kinds/identity.ts';
import type { Tables } from '../state/tables.ts';
import { isForClients, rootOf, vouch } from './certificates.ts';
import type { Proven } from './login-attempt.ts';
import { isAdmin } from './permissions.ts';
import type { AuthServices } from './request.ts';
import { permitsSigner } from './tokens/external-jwt.ts';
import { mayVouchFor, NOT_FOR_ADMINS, NOT_THROUGH_ROUTERS } from './vouching.ts';

export type JudgeServices = Pick<AuthServices, 'state' | 'authority' | 'clock' | 'log'> & {
  readonly lockouts: Pick<AuthServices['lockouts'], 'isLocked'>;
};

/** A proof that logs an identity in, or the reason why it does not. */
export type Judged = { readonly proven: Proven } | { readonly problem: string };

/** Why the identity is disabled; undefined if it is not. */
export function disabledProblem(identity: Identity, now: number): string | undefined {
  const { name, disabledUntil } = identity;
  if (!isDisabled(identity, now)) return undefined;
  if (disabledUntil === null) return `${name} is disabled`;
  return `${name} is disabled until ${disabledUntil}, by an administrator or after wrong passwords`;
}

/** Everything about the login with the password of an authenticator, except the password. */
export function judgePassword(services: JudgeServices, authenticator: Authenticator | undefined): Judged {
  const { state, clock, lockouts } = services;
  const identity = authenticator && state.tables.identity.get(authenticator.identityId);
  if (!identity) return { problem: 'no identity has this username' };
  const policy = policyOf(state.tables, identity);
  if (!policy) return { problem: unknownPolicy(identity) };
  if (!policy.primary.updb.allowed) return { problem: `the auth policy ${policy.name} does not allow passwords` };
  const disabled = disabledProblem(identity, clock.now());
  if (disabled !== undefined) return { problem: disabled };
  if (lockouts.isLocked(authenticator.id)) return { problem: `${identity.name} is locked after wrong passwords` };
  return { proven: { identity, policy, authenticator } };
}

export interface PresentedChain {
  /** Leaf first. */
  readonly certificates: readonly X509Certificate[];
  /** The edge router whose API proxy forwards the chain. */
  readonly viaRouter?: string | undefined;
  /** Vouches for a certificate without the chain, which only clients have. */
  readonly assumed?: CertificateAuthority | undefined;
}

/** A certificate of an authenticator, or of an authority with a claim that identifies the identity. */
export function judgeCertificate(services: JudgeServices, presented: PresentedChain): Judged {
  const { state, clock, log } = services;
  const { certificates, viaRouter, assumed } = presented;
  const { tables } = state;
  const [leaf] = certificates;
  if (!leaf) return { problem: 'the client presented no certificate' };
  if (!isForClients(leaf)) return { problem: 'the certificate is not for clients' };
  const times = validityTimes(clock);
  const found = vouch(services, certificates, { ...times, allowExpired: true });
  const voucher = found ?? (assumed && ({ kind: 'ca', ca: assumed } as const));
  if (!voucher) return { problem: unvouched(leaf, times) };
  if (voucher.kind === 'ca' && !voucher.ca.isAuthEnabled)
    return { problem: `logins with certificates of the authority ${voucher.ca.name} are disabled` };
  const authenticator = tables.authenticator.findBy('fingerprint', sha1Fingerprint(leaf));
  const identity = authenticator
    ? tables.identity.get(authenticator.identityId)
    : voucher.kind === 'ca'
      ? identityOfClaim(tables, leaf, voucher.ca)
      : undefined;
  if (!identity) return { problem: unknownCertificate(tables, leaf) };
  // An authenticator's certificate is trusted directly; other certificates only as far as their authority may vouch.
  if (!authenticator && voucher.kind === 'ca' && !mayVouchFor(voucher.ca, identity)) {
    log.info({ caId: voucher.ca.id, identityId: identity.id }, NOT_FOR_ADMINS);
    return { problem: NOT_FOR_ADMINS };
  }
  if (viaRouter !== undefined && isAdmin(identity)) {
    log.info({ routerId: viaRouter, identityId: identity.id }, NOT_THROUGH_ROUTERS);
    return { problem: NOT_THROUGH_ROUTERS };
  }
  const policy = policyOf(tables, identity);
  if (!policy) return { problem: unknownPolicy(identity) };
  const { allowed, allowExpiredCerts } = policy.primary.cert;
  if (!allowed) return { problem: `the auth policy ${policy.name} does not allow certificates` };
  const invalid = validity(leaf, times.now, times.latest);
  if (!allowExpiredCerts && (found ? !vouch(services, certificates, times) : invalid !== undefined)) {
    return { problem: notAllowed(invalid ?? 'a certificate of its chain has expired', policy) };
  }
  const disabled = disabledProblem(identity, clock.now());
  if (disabled !== undefined) return { problem: disabled };
  const isCertExtendable = authenticator?.isIssuedByNetwork ?? false;
  return { proven: { identity, policy, ...(authenticator && { authenticator }), isCertExtendable } };
}

/** Whether tokens of a signer can log the identity in. */
export function acceptsSigner(signer: ExternalJwtSigner, identity: Identity, { primary }: AuthPolicy): boolean {
  const isNamed = !signer.useExternalId || identity.externalId !== null;
  return signer.enabled && permitsSigner(primary, signer.id) && isNamed && mayVouchFor(signer, identity);
}

/** Whether certificates of an authority can log the identity in by a claim. */
export function acceptsAuthority(ca: CertificateAuthority, identity: Identity, { primary }: AuthPolicy): boolean {
  const isNamed = ca.externalIdClaim !== null && identity.externalId !== null;
  return ca.isAuthEnabled && ca.isVerified && primary.cert.allowed && isNamed && mayVouchFor(ca, identity);
}

/** Why no certificate of an authority is accepted at this time, for any identity with the policy. */
export function expiredAuthority(
  { clock }: Pick<JudgeServices, 'clock'>,
  ca: CertificateAuthority,
  policy: AuthPolicy,
): string | undefined {
  if (policy.primary.cert.allowExpiredCerts) return undefined;
  const { now, latest } = validityTimes(clock);
  const invalid = validity(rootOf(ca), now, latest);
  return invalid === undefined ? undefined : notAllowed(invalid, policy);
}

function notAllowed(expired: string, { name }: AuthPolicy): string {
  return `${expired}, and the auth policy ${name} does not allow expired ones`;
}

function policyOf({ authPolicy }: Tables, { authPolicyId }: Identity): AuthPolicy | undefined {
  return authPolicy.get(authPolicyId);
}

function unknownPolicy({ name }: Identity): string {
  return `the auth policy of ${name} is unknown`;
}

function identityOfClaim(tables: Tables, leaf: X509Certificate, ca: CertificateAuthority): Identity | undefined {
  const externalId = ca.externalIdClaim ? externalIdOf(leaf, ca.externalIdClaim) : undefined;
  return externalId === undefined ? undefined : tables.identity.findBy('externalId', externalId);
}

/** Cheap: strangers can present any certificate. */
function unvouched(leaf: X509Certificate, { now, latest }: ReturnType<typeof validityTimes>): string {
  const early = latest !== undefined && latest < leaf.validFromDate.getTime();
  const dated = early ? validity(leaf, now, latest) : undefined;
  return dated ?? 'no trusted authority has signed the certificate';
}

/** Certificates of the network name their identity. */
function unknownCertificate(tables: Tables, leaf: X509Certificate): string {
  const named = tables.identity.get(commonName(leaf) ?? '');
  if (!named) return 'no identity has this certificate';
  const hasOther = tables.authenticator.referring('identityId', named.id).some(({ method }) => method === 'cert');
  return hasOther
    ? `the certificate was replaced: ${named.name} has another one`
    : `the authenticator of the certificate was deleted: ${named.name} has no certificate`;
}
