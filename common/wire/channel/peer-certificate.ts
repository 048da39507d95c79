// The certificate of a peer that dialed: who may open a channel.

import type { X509Certificate } from 'node:crypto';
import { verifyChain } from '#pki/certificate-chain.ts';
import { type PresentingSocket, peerCertificates } from '#pki/certificates.ts';
import { HelloRejectedError } from '../errors.ts';

export interface TrustedAuthorities {
  readonly roots: readonly X509Certificate[];
  /** Their source, for errors. */
  readonly authorities: string;
}

/**
 * The leaf that the peer presented. `now`: milliseconds since the epoch. @throws HelloRejectedError if it is not
 * trusted
 */
export function trustedLeaf(
  socket: PresentingSocket,
  { roots, authorities }: TrustedAuthorities,
  now: number,
): X509Certificate {
  const presented = peerCertificates(socket);
  const [leaf] = presented;
  const verdict = verifyChain(presented, roots, { now });
  if (!verdict.ok) throw new HelloRejectedError(`${verdict.reason} (trusted authorities: ${authorities})`);
  if (!leaf) throw new HelloRejectedError('no certificate was presented');
  return leaf;
}
