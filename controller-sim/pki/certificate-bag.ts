// PKCS#7 "certs-only", in which enrolling clients receive authorities. A SignedData without content and signers.

import type { X509Certificate } from 'node:crypto';
import { context, der, integer, oid, sequence, Tag } from '#pki/der.ts';

const SIGNED_DATA = '1.2.840.113549.1.7.2';
const DATA = '1.2.840.113549.1.7.1';
const EMPTY_SET = der(Tag.Set);

/** A bag with these certificates, as DER. */
export function certificateBag(certificates: readonly X509Certificate[]): Buffer {
  const bag = context(0, Buffer.concat(certificates.map((certificate) => certificate.raw)));
  const signedData = sequence(integer(1), EMPTY_SET, sequence(oid(DATA)), bag, EMPTY_SET);
  return sequence(oid(SIGNED_DATA), context(0, signedData));
}
