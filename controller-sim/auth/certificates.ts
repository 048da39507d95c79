// Client certificates: finds their identity and the authority that vouches for them.

import type { X509Certificate } from 'node:crypto';
import { type ChainOptions, verifyChain } from '#pki/certificate-chain.ts';
import { leafOf, parsePemCertificates, sha1Fingerprint } from '#pki/certificates.ts';
import { ApiError, badRequest } from '../errors/errors.ts';
import { PURPOSES } from '../pki/certificate.ts';
import type { CertificateAuthority } from '../state/kinds/ca.ts';
import type { AuthServices } from './request.ts';

type Components = Pick<AuthServices, 'state' | 'authority'>;

/** The authority that vouches for a presented chain. */
export type Voucher = { readonly kind: 'own' } | { readonly kind: 'ca'; readonly ca: CertificateAuthority };

/** Cached: a login compares with the certificate of every verified authority. */
const rootByAuthority = new WeakMap<CertificateAuthority, X509Certificate>();

/**
 * The authority that vouches for `presented` (leaf first): the network's own, else a verified one. One search covers
 * all verified authorities, so its limits hold for any number of them.
 */
export function vouch(
  { state, authority }: Components,
  presented: readonly X509Certificate[],
  dates: ChainOptions = {},
): Voucher | undefined {
  if (verifyChain(presented, authority.roots, dates).ok) return { kind: 'own' };
  const authorities = [...state.tables.ca.values()].filter(({ isVerified }) => isVerified);
  const verdict = verifyChain(presented, authorities.map(rootOf), dates);
  const root = verdict.ok ? verdict.chain.at(-1)?.fingerprint256 : undefined;
  const ca = root && authorities.find((each) => rootOf(each).fingerprint256 === root);
  return ca ? { kind: 'ca', ca } : undefined;
}

/** reference fact: the first certificate of an authority. Its verification proves the key of no other one. */
export function rootOf(ca: CertificateAuthority): X509Certificate {
  let root = rootByAuthority.get(ca);
  if (!root) {
    root = leafOf(ca.certPem);
    rootByAuthority.set(ca, root);
  }
  return root;
}

/** A certificate in a body, which a trusted authority must have signed. Throws ApiError. */
export function readClientCertificate(
  services: Components,
  pem: string,
): { certificate: X509Certificate; caId: string | undefined } {
  let certificates: X509Certificate[];
  try {
    certificates = parsePemCertificates(pem);
  } catch {
    certificates = []; // rejected below, like text without a certificate
  }
  const [certificate] = certificates;
  if (!certificate || certificates.length !== 1)
    throw new ApiError('COULD_NOT_PARSE_PEM_BLOCK', {
      code: 'UNHANDLED',
      message: 'client pem must be exactly one certificate',
    });
  const voucher = vouch(services, certificates);
  if (!voucher) {
    const fingerprint = sha1Fingerprint(certificate);
    throw badRequest(`error verifying client certificate [${fingerprint}] did not verify against known CAs`);
  }
  return { certificate, caId: voucher.kind === 'ca' ? voucher.ca.id : undefined };
}

/** A certificate with an extended key usage must permit client authentication. */
export function isForClients({ keyUsage }: X509Certificate): boolean {
  return !Array.isArray(keyUsage) || keyUsage.length === 0 || keyUsage.includes(PURPOSES.client);
}
