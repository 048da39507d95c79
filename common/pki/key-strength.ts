// Whether a private key is suitable for TLS between the programs of a network: OpenSSL rejects short RSA keys, and
// handshakes with most curves fail.

import type { KeyObject } from 'node:crypto';

const SUFFICIENT_RSA_BITS = 2_048;
/** OpenSSL's names of the curves P-256, P-384 and P-521. */
const CURVES: ReadonlySet<string> = new Set(['prime256v1', 'secp384r1', 'secp521r1']);

/** Describes an unsuitable key: `an RSA key of 1024 bits; at least 2048 are required`. Undefined for a suitable one. */
export function keyWeakness({ asymmetricKeyType: type, asymmetricKeyDetails }: KeyObject): string | undefined {
  const { modulusLength: bits = 0, namedCurve = 'without a name' } = asymmetricKeyDetails ?? {};
  const isShort = (type === 'rsa' || type === 'rsa-pss') && bits < SUFFICIENT_RSA_BITS;
  if (isShort) return `an RSA key of ${bits} bits; at least ${SUFFICIENT_RSA_BITS} are required`;
  const isUnusual = type === 'ec' && !CURVES.has(namedCurve);
  return isUnusual ? `an EC key of the curve ${namedCurve}; P-256, P-384 and P-521 are supported` : undefined;
}
