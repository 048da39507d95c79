// The certificates of a PKCS#7 bag ("certs-only"), as controllers hand out their authorities.

import { X509Certificate } from 'node:crypto';
import { type DerValue, readDer } from '#lib/der.ts';

const SIGNED_DATA_CONTENT = 0xa0;

/** Reads the DER of a SignedData without signers. Throws RangeError or an error of node:crypto when it is none. */
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
  if (!value) throw new RangeError('this is no bag of certificates');
  return value.content;
}
