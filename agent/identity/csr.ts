// Certificate signing requests (PKCS#10): subject and names come from the `csr` section, signed with the router's key.

import { createPublicKey, type KeyObject, sign } from 'node:crypto';
import { bitString, context, der, integer, oid, sequence, Tag, utf8 } from '#pki/der.ts';
import { encodeGeneralNames, SUBJECT_ALT_NAME } from '#pki/general-names.ts';
import { pemBlock } from '#pki/pem.ts';
import type { CsrConfig } from '../config/router-config.ts';

const SUBJECT_OIDS = [
  ['country', '2.5.4.6'],
  ['province', '2.5.4.8'],
  ['locality', '2.5.4.7'],
  ['organization', '2.5.4.10'],
  ['organizationalUnit', '2.5.4.11'],
] as const;
const COMMON_NAME = '2.5.4.3';
const EXTENSION_REQUEST = '1.2.840.113549.1.9.14';
const ECDSA_SHA256 = '1.2.840.10045.4.3.2';
const RSA_SHA256 = '1.2.840.113549.1.1.11';

/** Returns a PEM request with the common name `name`. Keys are EC or RSA; the signature uses SHA-256. */
export function createCsr(name: string, csr: CsrConfig, key: KeyObject): string {
  const info = sequence(
    integer(0),
    subject(name, csr),
    createPublicKey(key).export({ type: 'spki', format: 'der' }),
    context(0, extensionRequest(csr)),
  );
  const request = sequence(info, signatureAlgorithm(key), bitString(sign('sha256', info, key)));
  return pemBlock('CERTIFICATE REQUEST', request);
}

function subject(name: string, csr: CsrConfig): Buffer {
  const parts = SUBJECT_OIDS.flatMap(([key, id]) => (csr[key] ? [relativeName(id, csr[key])] : []));
  return sequence(...parts, relativeName(COMMON_NAME, name));
}

/** The standard requires countries to be printable strings of two letters; all other values are UTF-8. */
function relativeName(id: string, value: string): Buffer {
  const isCountry = id === SUBJECT_OIDS[0][1];
  return der(Tag.Set, sequence(oid(id), isCountry ? der(Tag.Printable, Buffer.from(value)) : utf8(value)));
}

function extensionRequest(csr: CsrConfig): Buffer {
  const names = encodeGeneralNames(csr.sans);
  if (!names) return Buffer.alloc(0);
  const extension = sequence(oid(SUBJECT_ALT_NAME), der(Tag.OctetString, names));
  return sequence(oid(EXTENSION_REQUEST), der(Tag.Set, sequence(extension)));
}

function signatureAlgorithm(key: KeyObject): Buffer {
  return key.asymmetricKeyType === 'rsa' ? sequence(oid(RSA_SHA256), der(Tag.Null)) : sequence(oid(ECDSA_SHA256));
}
