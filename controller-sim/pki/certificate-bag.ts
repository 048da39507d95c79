// PKCS#7 "certs-only": how authorities are handed out to who enrolls. A SignedData without content and signers, written by hand:
// five nested values.

import type { X509Certificate } from 'node:crypto';

const SIGNED_DATA = Buffer.from('06092a864886f70d010702', 'hex');
const DATA = Buffer.from('06092a864886f70d010701', 'hex');
const VERSION_1 = Buffer.from('020101', 'hex');
const EMPTY_SET = Buffer.from('3100', 'hex');
const SEQUENCE = 0x30;
const CONTEXT_0 = 0xa0;

/** The DER of a bag with these certificates. */
export function certificateBag(certificates: readonly X509Certificate[]): Buffer {
  const bag = value(CONTEXT_0, ...certificates.map((certificate) => certificate.raw));
  const signedData = value(SEQUENCE, VERSION_1, EMPTY_SET, value(SEQUENCE, DATA), bag, EMPTY_SET);
  return value(SEQUENCE, SIGNED_DATA, value(CONTEXT_0, signedData));
}

function value(tag: number, ...content: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(content);
  return Buffer.concat([Buffer.from([tag]), length(body.length), body]);
}

function length(bytes: number): Buffer {
  if (bytes < 0x80) return Buffer.from([bytes]);
  const hex = bytes.toString(16);
  const digits = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
  return Buffer.concat([Buffer.from([0x80 | digits.length]), digits]);
}
