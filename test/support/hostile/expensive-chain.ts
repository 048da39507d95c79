// Client certificates that cost a server much to verify: a leaf with a real key, below authorities whose keys and
// signatures are random numbers. Nobody has to generate these keys, and a failed signature check costs as much as a
// successful one.

import { createPublicKey, generateKeyPairSync, randomBytes } from 'node:crypto';
import { bitString, context, der, integer, oid, sequence, Tag, utf8 } from '#pki/der.ts';
import type { Credentials } from './attacker.ts';

const SHA256_WITH_RSA = sequence(oid('1.2.840.113549.1.1.11'), der(Tag.Null));
const RSA = sequence(oid('1.2.840.113549.1.1.1'), der(Tag.Null));
const IS_AUTHORITY = context(
  3,
  sequence(
    sequence(
      oid('2.5.29.19'),
      der(Tag.Boolean, Buffer.from([0xff])),
      der(Tag.OctetString, sequence(der(Tag.Boolean, Buffer.from([0xff])))),
    ),
  ),
);
const VALIDITY = sequence(
  der(Tag.UtcTime, Buffer.from('200101000000Z')),
  der(Tag.UtcTime, Buffer.from('490101000000Z')),
);

export interface ExpensiveChain {
  /** Certificates above the leaf. */
  readonly authorities: number;
  /** Size of the RSA keys of the authorities. */
  readonly bits: number;
  /** Public exponent as bytes; OpenSSL accepts 64 bits for large keys. */
  readonly exponent?: Buffer;
}

export function expensiveChain({ authorities, bits, exponent = Buffer.from([1, 0, 1]) }: ExpensiveChain): Credentials {
  const leaf = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const certificates = [certificate('leaf', 'CA 0', leaf.publicKey.export({ type: 'spki', format: 'der' }), bits)];
  for (let index = 0; index < authorities; index++)
    certificates.push(certificate(`CA ${index}`, `CA ${index + 1}`, rsaKey(bits, exponent), bits));
  return {
    cert: certificates.map(pemOf).join(''),
    key: leaf.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

function certificate(subject: string, issuer: string, spki: Buffer, bits: number): Buffer {
  const isLeaf = subject === 'leaf';
  const signature = randomBytes(bits / 8);
  signature[0] = 1; // less than the modulus, or the check ends early
  const contents = sequence(
    context(0, integer(2)),
    integer(1),
    SHA256_WITH_RSA,
    name(issuer),
    VALIDITY,
    name(subject),
    spki,
    ...(isLeaf ? [] : [IS_AUTHORITY]),
  );
  return sequence(contents, SHA256_WITH_RSA, bitString(signature));
}

function name(text: string): Buffer {
  return sequence(der(Tag.Set, sequence(oid('2.5.4.3'), utf8(text))));
}

function rsaKey(bits: number, exponent: Buffer): Buffer {
  const modulus = randomBytes(bits / 8);
  modulus[0] = 0xff;
  modulus[modulus.length - 1] = 0xff;
  const positive = (bytes: Buffer) => der(Tag.Integer, Buffer.from([0]), bytes);
  const key = sequence(positive(modulus), positive(exponent));
  const spki = sequence(RSA, bitString(key));
  createPublicKey({ key: spki, type: 'spki', format: 'der' }); // throws if OpenSSL does not read it
  return spki;
}

function pemOf(bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}
