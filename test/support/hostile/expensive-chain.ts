// Client certificates that cost a server much to verify: a leaf with a real key, below authorities whose RSA keys and
// signatures are random numbers, or that have one name and one EC key. Nobody has to generate the former keys, and a
// failed signature check costs as much as a successful one; each of the latter has signed all others.

import { createPublicKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { bitString, context, der, integer, oid, sequence, Tag, utf8 } from '#pki/der.ts';
import type { Credentials } from './attacker.ts';

const SHA256_WITH_RSA = sequence(oid('1.2.840.113549.1.1.11'), der(Tag.Null));
const SHA256_WITH_ECDSA = sequence(oid('1.2.840.10045.4.3.2'));
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

export interface NamesakeChain {
  /** Certificates above the leaf. */
  readonly authorities: number;
  /** OpenSSL's name of the curve of their key. */
  readonly curve: string;
  /** The name of them all, for example that of an authority that the server trusts. */
  readonly name?: string;
}

/** Without key identifiers, any of them may be the issuer of any other. */
export function namesakeChain({ authorities, curve, name = 'namesake' }: NamesakeChain): Credentials {
  const leaf = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const authority = generateKeyPairSync('ec', { namedCurve: curve });
  const above = Array.from({ length: authorities }, () => ({ subject: name, spki: spkiOf(authority.publicKey) }));
  const certificates = [{ subject: 'leaf', spki: spkiOf(leaf.publicKey) }, ...above].map((each) =>
    certificate({ ...each, issuer: name, algorithm: SHA256_WITH_ECDSA }, (contents) =>
      sign('sha256', contents, authority.privateKey),
    ),
  );
  return { cert: certificates.map(pemOf).join(''), key: pkcs8Of(leaf.privateKey) };
}

export function expensiveChain({ authorities, bits, exponent = Buffer.from([1, 0, 1]) }: ExpensiveChain): Credentials {
  const leaf = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const above = Array.from({ length: authorities }, (_, index) => ({
    subject: `CA ${index}`,
    issuer: `CA ${index + 1}`,
    spki: rsaKey(bits, exponent),
  }));
  const certificates = [{ subject: 'leaf', issuer: 'CA 0', spki: spkiOf(leaf.publicKey) }, ...above].map((each) =>
    certificate({ ...each, algorithm: SHA256_WITH_RSA }, () => {
      const signature = randomBytes(bits / 8);
      signature[0] = 1; // less than the modulus, or the check ends early
      return signature;
    }),
  );
  return { cert: certificates.map(pemOf).join(''), key: pkcs8Of(leaf.privateKey) };
}

interface Names {
  readonly subject: string;
  readonly issuer: string;
  readonly algorithm: Buffer;
  readonly spki: Buffer;
}

function certificate({ subject, issuer, algorithm, spki }: Names, signatureOf: (contents: Buffer) => Buffer): Buffer {
  const contents = sequence(
    context(0, integer(2)),
    der(Tag.Integer, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    algorithm,
    name(issuer),
    VALIDITY,
    name(subject),
    spki,
    ...(subject === 'leaf' ? [] : [IS_AUTHORITY]),
  );
  return sequence(contents, algorithm, bitString(signatureOf(contents)));
}

function spkiOf(key: KeyObject): Buffer {
  return key.export({ type: 'spki', format: 'der' });
}

function pkcs8Of(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
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
