// The public keys in certificates that the programs of a network read. The reference's library reads RSA, Ed25519 and
// four curves; its TLS rejects RSA keys beyond 8,192 bits. Other keys can be expensive to use, and anybody can
// present them.

import type { X509Certificate } from 'node:crypto';
import { type DerValue, readDer, readOid } from './der.ts';

/** Bits of an RSA key, as in the reference. A check with a larger key takes milliseconds. */
const MAX_RSA_KEY_BITS = 8_192;
/** As in the reference: a smaller key can be factored. */
const MIN_RSA_KEY_BITS = 1_024;
/** Bits of its public exponent, as in the reference: a check takes a step for each. */
const MAX_RSA_EXPONENT_BITS = 31;
const RSA = '1.2.840.113549.1.1.1';
const EC = '1.2.840.10045.2.1';
const ED25519 = '1.3.101.112';
/** P-224, P-256, P-384 and P-521. */
const CURVES: ReadonlySet<string> = new Set(['1.3.132.0.33', '1.2.840.10045.3.1.7', '1.3.132.0.34', '1.3.132.0.35']);
/** Context tag of the version, the optional first field of a certificate. */
const VERSION = 0xa0;
/** Index of the key among the other fields. */
const KEY = 5;
/** First byte of a point with both coordinates. */
const UNCOMPRESSED = 4;
const EMPTY = Buffer.alloc(0);

/** Describes a key that is not supported: `an RSA key of 16384 bits; at most 8192 are supported`. Uses no key. */
export function keyProblem(certificate: X509Certificate): string | undefined {
  try {
    const [whole] = readDer(certificate.raw);
    const fields = inside(inside(whole)[0]);
    const [algorithm, key] = inside(fields[0]?.tag === VERSION ? fields[KEY + 1] : fields[KEY]);
    const [kind, parameter] = inside(algorithm);
    const bits = key?.content.subarray(1) ?? EMPTY; // after the number of unused bits
    const id = readOid(kind?.content ?? EMPTY);
    if (id === RSA) return rsaProblem(bits);
    if (id === EC) return curveProblem(readOid(parameter?.content ?? EMPTY), bits);
    return id === ED25519 ? undefined : `a key of the kind ${id}, which is not supported`;
  } catch {
    return 'a key that cannot be read';
  }
}

function rsaProblem(key: Buffer): string | undefined {
  const [modulus, exponent] = inside(readDer(key)[0]).map(({ content }) => bitLength(content));
  if (modulus === undefined || exponent === undefined) return 'a key that cannot be read';
  if (modulus > MAX_RSA_KEY_BITS) return `an RSA key of ${modulus} bits; at most ${MAX_RSA_KEY_BITS} are supported`;
  if (modulus < MIN_RSA_KEY_BITS) return `an RSA key of ${modulus} bits; at least ${MIN_RSA_KEY_BITS} are required`;
  if (exponent <= MAX_RSA_EXPONENT_BITS) return undefined;
  return `an RSA key with an exponent of ${exponent} bits; at most ${MAX_RSA_EXPONENT_BITS} are supported`;
}

function curveProblem(curve: string, point: Buffer): string | undefined {
  if (!CURVES.has(curve)) return `an EC key of the curve ${curve}; P-224, P-256, P-384 and P-521 are supported`;
  return point[0] === UNCOMPRESSED ? undefined : 'an EC key whose point is compressed, which is not supported';
}

/** The length of a number without leading zeros. */
function bitLength(number: Buffer): number {
  const start = number.findIndex((byte) => byte !== 0);
  return start < 0 ? 0 : (number.length - start) * 8 - Math.clz32(number[start] ?? 0) + 24;
}

function inside(value: DerValue | undefined): DerValue[] {
  return readDer(value?.content ?? EMPTY);
}
