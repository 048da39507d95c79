// Client certificates: whose they are, and which authority vouches for them.

import type { X509Certificate } from 'node:crypto';
import { type ChainOptions, parsePemCertificates, sha1Fingerprint, verifyChain } from '#lib/certificates.ts';
import { PURPOSES } from '../pki/certificate.ts';
import type { ApiServices } from '../request/context.ts';
import { ApiError, badRequest } from '../request/errors.ts';
import type { CertificateAuthority } from '../state/types.ts';

/** What vouches for a presented chain. */
export type Voucher = { readonly kind: 'own' } | { readonly kind: 'ca'; readonly ca: CertificateAuthority };

/** Of the network itself or of a verified authority. */
export function vouch(
  { state, authority }: ApiServices,
  presented: readonly X509Certificate[],
  dates: ChainOptions = {},
): Voucher | undefined {
  if (verifyChain(presented, authority.roots, dates).ok) return { kind: 'own' };
  for (const ca of state.tables.ca.values()) {
    if (ca.isVerified && verifyChain(presented, parsePemCertificates(ca.certPem), dates).ok) return { kind: 'ca', ca };
  }
  return undefined;
}

/** One certificate of a body, which somebody known has signed. Throws ApiError. */
export function readClientCertificate(
  services: ApiServices,
  pem: string,
): { certificate: X509Certificate; caId: string | undefined } {
  let certificates: X509Certificate[];
  try {
    certificates = parsePemCertificates(pem);
  } catch {
    certificates = []; // refused below like a text without any
  }
  const [certificate] = certificates;
  if (!certificate || certificates.length !== 1) throw new ApiError('COULD_NOT_PARSE_PEM_BLOCK');
  const voucher = vouch(services, certificates);
  if (!voucher) {
    const fingerprint = sha1Fingerprint(certificate);
    throw badRequest(`error verifying client certificate [${fingerprint}] did not verify against known CAs`);
  }
  return { certificate, caId: voucher.kind === 'ca' ? voucher.ca.id : undefined };
}

/** A certificate that says what it is for must say that it is for clients. */
export function isForClients({ keyUsage }: X509Certificate): boolean {
  return !Array.isArray(keyUsage) || keyUsage.length === 0 || keyUsage.includes(PURPOSES.client);
}
