// Tokens of the OIDC API that are bound to certificates: whoever shows one has to hold the key of such a certificate.

import { sha1Fingerprint } from '#pki/certificates.ts';
import type { AccessClaims } from '../pki/tokens.ts';
import type { AuthRequest, AuthServices } from './request.ts';

type Presenting = Pick<AuthRequest<Pick<AuthServices, 'clock'>>, 'services' | 'certificates'>;

/** Whether a client may use a token: it is bound to no certificate, or the client presents one of those, valid now. */
export function holdsCertificate(
  request: Presenting,
  { z_cfs, z_cae }: Pick<AccessClaims, 'z_cfs' | 'z_cae'>,
): boolean {
  if (z_cfs.length === 0) return true;
  const [leaf] = request.certificates;
  if (!leaf || !z_cfs.includes(sha1Fingerprint(leaf))) return false;
  const now = request.services.clock.now();
  return z_cae === true || (leaf.validFromDate.getTime() <= now && now <= leaf.validToDate.getTime());
}
