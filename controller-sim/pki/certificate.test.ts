// Certificates that the simulator writes, as another implementation reads them.

import { createPrivateKey, createPublicKey, generateKeyPairSync, X509Certificate } from 'node:crypto';
import t from 'tap';
import { seededRandom } from '#lib/random.ts';
import { readDer, Tag } from '#pki/der.ts';
import { issueAuthority, newSerial } from './certificate.ts';

const KEY = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  .privateKey.export({ type: 'pkcs8', format: 'pem' })
  .toString();

function authorityUntil(notAfter: string): X509Certificate {
  const publicKey = createPublicKey(createPrivateKey(KEY)).export({ type: 'spki', format: 'der' });
  const serial = newSerial(seededRandom(1));
  const notBefore = new Date('2026-01-02T03:04:05Z');
  const fields = { commonName: 'root', publicKey, serial, notBefore, notAfter: new Date(notAfter) };
  return new X509Certificate(issueAuthority(fields, KEY, undefined));
}

/** The tags of both times of the validity. */
function tagsOf({ raw }: X509Certificate): number[] {
  const [whole] = readDer(raw);
  const [body] = readDer(whole?.content ?? Buffer.alloc(0));
  return readDer(readDer(body?.content ?? Buffer.alloc(0))[4]?.content ?? Buffer.alloc(0)).map(({ tag }) => tag);
}

t.test('times until 2049 have two digits of the year, and four from 2050 on', async (t) => {
  const table: [notAfter: string, tag: number][] = [
    ['2036-12-31T23:59:59Z', Tag.UtcTime],
    ['2049-12-31T23:59:59Z', Tag.UtcTime],
    ['2050-01-01T00:00:00Z', Tag.GeneralizedTime],
    ['2126-06-30T12:00:00Z', Tag.GeneralizedTime],
  ];
  for (const [notAfter, tag] of table) {
    const certificate = authorityUntil(notAfter);
    t.same(tagsOf(certificate), [Tag.UtcTime, tag], notAfter);
    t.equal(certificate.validFromDate.toISOString(), '2026-01-02T03:04:05.000Z');
    t.equal(certificate.validToDate.getTime(), Date.parse(notAfter));
    t.ok(certificate.verify(certificate.publicKey));
  }
});
