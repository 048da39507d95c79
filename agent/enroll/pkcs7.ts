// Reads the certificates of a PKCS#7 message ("certs-only"), in which controllers send their authorities.

import { X509Certificate } from 'node:crypto';
import { type DerValue, readDer } from '#pki/der.ts';

const SIGNED_DATA_CONTENT = 0xa0;

/** Reads the DER of a SignedData without signers. @throws RangeError or an error of node:crypto if it is invalid */
export function readCertificateBag(bag: Buffer): X509Certificate[] {
  const [contentInfo] = readDer(bag);
  const signedData = first(readDer(content(contentInfo)), SIGNED_DATA_CONTENT);
  const fields = readDer(content(readDer(content(signedData))[0]));
  const certificates = first(fields, SIGNED_DATA_CONTENT);
  return readDer(content(certificates)).map((each) => new X509Certificate(each.whole));
}

function first(values: readonly DerValue[], tag: number): DerValue | undefined {
  return values.find((value) => value.tag === tag);
}

function content(value: DerValue | undefined): Buffer {
  if (!value) throw new RangeError('not a PKCS#7 list of certificates');
  return value.content;
}
