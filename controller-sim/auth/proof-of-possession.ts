// OIDC tokens may be bound to certificates: the client must hold the key of one of them.

import { validity } from '#pki/certificate-chain.ts';
import { sha1Fingerprint } from '#pki/certificates.ts';
import type { AccessClaims } from '../pki/tokens.ts';
import { validityTimes } from '../pki/validity-times.ts';
import type { AuthRequest, AuthServices } from './request.ts';

type Presenting = Pick<AuthRequest<Pick<AuthServices, 'clock'>>, 'services' | 'certificates'>;

/** Whether a client may use a token: it is unbound, or the client presents one of its certificates, valid now. */
export function holdsCertificate(
  request: Presenting,
  { z_cfs, z_cae }: Pick<AccessClaims, 'z_cfs' | 'z_cae'>,
): boolean {
  if (z_cfs.length === 0) return true;
  const [leaf] = request.certificates;
  if (!leaf || !z_cfs.includes(sha1Fingerprint(leaf))) return false;
  const { now, latest } = validityTimes(request.services.clock);
  return z_cae === true || validity(leaf, now, latest) === undefined;
}
