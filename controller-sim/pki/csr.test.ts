// Requests with alternative names that no certificate may have, which the library for requests accepts.

import { generateKeyPairSync, sign } from 'node:crypto';
import t from 'tap';
import { bitString, context, der, integer, oid, sequence, Tag, utf8 } from '#pki/der.ts';
import { pemBlock } from '#pki/pem.ts';
import { readCsr } from './csr.ts';

const EXTENSION_REQUEST = '1.2.840.113549.1.9.14';
const ALT_NAME = '2.5.29.17';
const COMMON_NAME = '2.5.4.3';
const ECDSA_SHA256 = '1.2.840.10045.4.3.2';
const Name = { Email: 1, Dns: 2, Uri: 6, Ip: 7 } as const;

/** A request with one alternative name. */
function requestWith(kind: number, value: Buffer): string {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const names = sequence(context(kind, value, { primitive: true }));
  const extension = sequence(oid(ALT_NAME), der(Tag.OctetString, names));
  const attributes = context(0, sequence(oid(EXTENSION_REQUEST), der(Tag.Set, sequence(extension))));
  const subject = sequence(der(Tag.Set, sequence(oid(COMMON_NAME), utf8('router'))));
  const info = sequence(integer(0), subject, publicKey.export({ type: 'spki', format: 'der' }), attributes);
  const signature = bitString(sign('sha256', info, privateKey));
  return pemBlock('CERTIFICATE REQUEST', sequence(info, sequence(oid(ECDSA_SHA256)), signature));
}

t.test('IP addresses have 4 or 16 bytes', async (t) => {
  for (const [length, address] of [
    [4, '7.7.7.7'],
    [16, '707:707:707:707:707:707:707:707'],
  ] as const)
    t.same((await readCsr(requestWith(Name.Ip, Buffer.alloc(length, 7)))).names.ip, [address]);
  for (const length of [0, 1, 5, 8, 15, 17, 32])
    await t.rejects(
      readCsr(requestWith(Name.Ip, Buffer.alloc(length, 7))),
      { code: 'COULD_NOT_PROCESS_CSR' },
      `${length}`,
    );
});

t.test('other names are ASCII', async (t) => {
  t.same((await readCsr(requestWith(Name.Dns, Buffer.from('*.host.example')))).names.dns, ['*.host.example']);
  for (const [kind, text] of [
    [Name.Dns, 'hôst.example'],
    [Name.Uri, 'https://hôst.example/'],
    [Name.Email, 'hôst@example'],
  ] as const)
    await t.rejects(readCsr(requestWith(kind, Buffer.from(text))), { code: 'COULD_NOT_PROCESS_CSR' }, text);
});
