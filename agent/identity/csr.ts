// Certificate signing requests (PKCS#10): subject and names from the `csr` section, signed with the router's key.

import { createPublicKey, type KeyObject, sign } from 'node:crypto';
import { isIP } from 'node:net';
import type { CsrConfig } from '../config/router-config.ts';
import { bitString, context, der, integer, oid, sequence, Tag, utf8 } from './der.ts';

const SUBJECT_OIDS = [
  ['country', '2.5.4.6'],
  ['province', '2.5.4.8'],
  ['locality', '2.5.4.7'],
  ['organization', '2.5.4.10'],
  ['organizationalUnit', '2.5.4.11'],
] as const;
const COMMON_NAME = '2.5.4.3';
const EXTENSION_REQUEST = '1.2.840.113549.1.9.14';
const SUBJECT_ALT_NAME = '2.5.29.17';
const ECDSA_SHA256 = '1.2.840.10045.4.3.2';
const RSA_SHA256 = '1.2.840.113549.1.1.11';

/** A PEM request for `name`, which becomes the common name. Keys are EC or RSA; the signature uses SHA-256. */
export function createCsr(name: string, csr: CsrConfig, key: KeyObject): string {
  const info = sequence(
    integer(0),
    subject(name, csr),
    createPublicKey(key).export({ type: 'spki', format: 'der' }),
    context(0, extensionRequest(csr)),
  );
  const request = sequence(info, signatureAlgorithm(key), bitString(sign('sha256', info, key)));
  const lines = request.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE REQUEST-----\n${lines.join('\n')}\n-----END CERTIFICATE REQUEST-----\n`;
}

function subject(name: string, csr: CsrConfig): Buffer {
  const parts = SUBJECT_OIDS.flatMap(([key, id]) => (csr[key] ? [relativeName(id, csr[key])] : []));
  return sequence(...parts, relativeName(COMMON_NAME, name));
}

/** Countries are printable strings of two letters by the standard; everything else is UTF-8. */
function relativeName(id: string, value: string): Buffer {
  const isCountry = id === SUBJECT_OIDS[0][1];
  return der(Tag.Set, sequence(oid(id), isCountry ? der(Tag.Printable, Buffer.from(value)) : utf8(value)));
}

function extensionRequest(csr: CsrConfig): Buffer {
  const { email, dns, uri, ip } = csr.sans;
  const names = [
    ...email.map((each) => context(1, Buffer.from(each), { primitive: true })),
    ...dns.map((each) => context(2, Buffer.from(each), { primitive: true })),
    ...uri.map((each) => context(6, Buffer.from(each), { primitive: true })),
    ...ip.map((each) => context(7, ipBytes(each), { primitive: true })),
  ];
  if (names.length === 0) return Buffer.alloc(0);
  const extension = sequence(oid(SUBJECT_ALT_NAME), der(Tag.OctetString, sequence(...names)));
  return sequence(oid(EXTENSION_REQUEST), der(Tag.Set, sequence(extension)));
}

function signatureAlgorithm(key: KeyObject): Buffer {
  return key.asymmetricKeyType === 'rsa' ? sequence(oid(RSA_SHA256), der(Tag.Null)) : sequence(oid(ECDSA_SHA256));
}

/** 4 or 16 bytes in network order. */
export function ipBytes(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split('.').map(Number));
  const [left = '', right] = address.split('::');
  const groups = (text: string) =>
    text === ''
      ? []
      : text
          .split(':')
          .flatMap((group) =>
            group.includes('.')
              ? [...ipBytes(group)]
              : [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 0xff],
          );
  const head = groups(left);
  const tail = right === undefined ? [] : groups(right);
  return Buffer.from([...head, ...new Array<number>(16 - head.length - tail.length).fill(0), ...tail]);
}
