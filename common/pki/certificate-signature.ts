// The signatures of certificates that count. Others can be valid, too, but collisions of their digests can be computed,
// or the programs of the reference do not read them.

import type { X509Certificate } from 'node:crypto';
import { readDer, readOid, Tag } from './der.ts';

const PSS = '1.2.840.113549.1.1.10';
/** RSA (PKCS #1) and ECDSA with SHA-256, SHA-384 and SHA-512, and Ed25519. */
const ALGORITHMS: ReadonlySet<string> = new Set([
  '1.2.840.113549.1.1.11',
  '1.2.840.113549.1.1.12',
  '1.2.840.113549.1.1.13',
  '1.2.840.10045.4.3.2',
  '1.2.840.10045.4.3.3',
  '1.2.840.10045.4.3.4',
  '1.3.101.112',
]);
/** SHA-256, SHA-384 and SHA-512, for PSS. */
const DIGESTS: ReadonlySet<string> = new Set([
  '2.16.840.1.101.3.4.2.1',
  '2.16.840.1.101.3.4.2.2',
  '2.16.840.1.101.3.4.2.3',
]);
/** Context tag of the digest among the parameters of PSS; the default is SHA-1. */
const DIGEST = 0xa0;
const EMPTY = Buffer.alloc(0);

/** Describes a signature that does not count: `a signature of the kind 1.2.840.113549.1.1.5, which is not supported` */
export function signatureProblem(certificate: X509Certificate): string | undefined {
  try {
    const [whole] = readDer(certificate.raw);
    const [, algorithm] = readDer(whole?.content ?? EMPTY);
    const [kind, parameters] = readDer(algorithm?.content ?? EMPTY);
    const id = readOid(kind?.content ?? EMPTY);
    if (ALGORITHMS.has(id) || (id === PSS && DIGESTS.has(pssDigest(parameters?.content)))) return undefined;
    return `a signature of the kind ${id}${id === PSS ? ' without SHA-2' : ''}, which is not supported`;
  } catch {
    return 'a signature that cannot be read';
  }
}

function pssDigest(parameters: Buffer = EMPTY): string {
  const digest = readDer(parameters).find(({ tag }) => tag === DIGEST);
  const [algorithm] = readDer(digest?.content ?? EMPTY);
  const [id] = readDer(algorithm?.content ?? EMPTY);
  return id?.tag === Tag.Oid ? readOid(id.content) : '';
}
