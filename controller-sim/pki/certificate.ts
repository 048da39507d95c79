// Writes certificates (RFC 5280): the three of a new simulator, and those that it signs. Loading a library for this
// takes longer than the rest of the start.

import { createHash, createPrivateKey, createPublicKey, sign, X509Certificate } from 'node:crypto';
import type { Random } from '#lib/random.ts';
import { bitString, context, der, integer, oid, readDer, sequence, Tag, utf8 } from '#pki/der.ts';
import { encodeGeneralNames, type GeneralNames, SUBJECT_ALT_NAME } from '#pki/general-names.ts';
import { pemBlock } from '#pki/pem.ts';

/** A certificate and its key, both PEM. */
export interface Pair {
  readonly certificate: string;
  readonly key: string;
}

export const PURPOSES = { client: '1.3.6.1.5.5.7.3.2', server: '1.3.6.1.5.5.7.3.1' } as const;

export type Purpose = keyof typeof PURPOSES;

const SERIAL_LENGTH = 16;

/** A random serial number: positive, as the standard requires. */
export function newSerial(random: Random): Buffer {
  const bytes = random.bytes(SERIAL_LENGTH);
  bytes.writeUInt8((bytes.readUInt8(0) & 0x7f) | 0x01, 0);
  return bytes;
}

interface CommonFields {
  readonly commonName: string;
  /** DER of the public key. */
  readonly publicKey: Buffer;
  /** At most 20 bytes. */
  readonly serial: Buffer;
  readonly notBefore: Date;
  readonly notAfter: Date;
}

export interface LeafFields extends CommonFields {
  readonly names: GeneralNames;
  readonly purposes: readonly Purpose[];
}

export interface AuthorityFields extends CommonFields {
  /** Limit on authorities below it; unlimited if missing. */
  readonly pathLength?: number;
}

const ECDSA_SHA256 = sequence(oid('1.2.840.10045.4.3.2'));
const COMMON_NAME = '2.5.4.3';
const EXTENSION = {
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  basicConstraints: '2.5.29.19',
  authorityKeyIdentifier: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
} as const;
const TRUE = der(Tag.Boolean, Buffer.from([0xff]));
/**
 * Bits from the left: digitalSignature and keyEncipherment; keyCertSign and cRLSign. The first byte counts unused bits.
 */
const LEAF_USAGE = der(Tag.BitString, Buffer.from([5, 0b1010_0000]));
const AUTHORITY_USAGE = der(Tag.BitString, Buffer.from([1, 0b0000_0110]));
const VERSION_3 = context(0, integer(2));
/** The standard encodes later years in another form. */
const FIRST_LONG_YEAR = 2050;

/** A root authority, or one below `issuer`. PEM. */
export function issueAuthority(fields: AuthorityFields, key: string, issuer: Pair | undefined): string {
  const { publicKey, commonName, pathLength } = fields;
  const constraints = [TRUE, ...(pathLength === undefined ? [] : [integer(pathLength)])];
  const extensions = [
    extension(EXTENSION.basicConstraints, sequence(...constraints), { critical: true }),
    extension(EXTENSION.keyUsage, AUTHORITY_USAGE, { critical: true }),
    extension(EXTENSION.subjectKeyIdentifier, der(Tag.OctetString, keyIdentifier(publicKey))),
    ...(issuer ? [authorityKey(issuer)] : []),
  ];
  const issuerName = issuer ? subjectOf(issuer) : nameOf(commonName);
  return signed(fields, issuerName, extensions, issuer?.key ?? key);
}

/** A certificate for a server or a client. PEM. */
export function issueLeaf(fields: LeafFields, issuer: Pair): string {
  const names = encodeGeneralNames(fields.names);
  const purposes = fields.purposes.map((purpose) => oid(PURPOSES[purpose]));
  const extensions = [
    extension(EXTENSION.basicConstraints, sequence(), { critical: true }),
    extension(EXTENSION.keyUsage, LEAF_USAGE, { critical: true }),
    extension(EXTENSION.extendedKeyUsage, sequence(...purposes)),
    authorityKey(issuer),
    ...(names ? [extension(SUBJECT_ALT_NAME, names)] : []),
  ];
  return signed(fields, subjectOf(issuer), extensions, issuer.key);
}

function signed(
  { commonName, publicKey, serial, notBefore, notAfter }: CommonFields,
  issuer: Buffer,
  extensions: readonly Buffer[],
  key: string,
): string {
  const toBeSigned = sequence(
    VERSION_3,
    der(Tag.Integer, serial),
    ECDSA_SHA256,
    issuer,
    sequence(time(notBefore), time(notAfter)),
    nameOf(commonName),
    publicKey,
    context(3, sequence(...extensions)),
  );
  const signature = sign('sha256', toBeSigned, createPrivateKey(key));
  return pemBlock('CERTIFICATE', sequence(toBeSigned, ECDSA_SHA256, bitString(signature)));
}

function extension(id: string, value: Buffer, options: { critical?: boolean } = {}): Buffer {
  return sequence(oid(id), ...(options.critical ? [TRUE] : []), der(Tag.OctetString, value));
}

function authorityKey({ key }: Pair): Buffer {
  const publicKey = createPublicKey(key).export({ type: 'spki', format: 'der' });
  const value = sequence(context(0, keyIdentifier(publicKey), { primitive: true }));
  return extension(EXTENSION.authorityKeyIdentifier, value);
}

/** SHA-1 of the key bits (RFC 5280, section 4.2.1.2). */
function keyIdentifier(publicKey: Buffer): Buffer {
  const [info] = readDer(publicKey);
  const bits =
    readDer(info?.content ?? publicKey)
      .at(-1)
      ?.content.subarray(1) ?? publicKey;
  return createHash('sha1').update(bits).digest();
}

/** The exact bytes in the certificate, because names are compared by bytes. */
function subjectOf({ certificate }: Pair): Buffer {
  const [whole] = readDer(new X509Certificate(certificate).raw);
  const [toBeSigned] = readDer(whole?.content ?? Buffer.alloc(0));
  // version, serial, algorithm, issuer, validity, subject
  const subject = readDer(toBeSigned?.content ?? Buffer.alloc(0))[5];
  if (!subject) throw new Error('the certificate of the authority is unreadable');
  return subject.whole;
}

function nameOf(commonName: string): Buffer {
  return sequence(der(Tag.Set, sequence(oid(COMMON_NAME), utf8(commonName))));
}

function time(date: Date): Buffer {
  const digits = date.toISOString().replace(/\.\d+|[-:T]/g, '');
  return date.getUTCFullYear() < FIRST_LONG_YEAR
    ? der(Tag.UtcTime, Buffer.from(digits.slice(2)))
    : der(Tag.GeneralizedTime, Buffer.from(digits));
}
