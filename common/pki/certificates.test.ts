// Names in certificates.

import { X509Certificate } from 'node:crypto';
import t from 'tap';
import { x509 } from '../../controller-sim/pki/x509.ts';
import { makeAuthority } from '../../test/support/clients/certificates.ts';
import { commonName } from './certificates.ts';

/** A self-signed certificate with this subject (RFC 4514, but in the order of the certificate). */
async function certificateOf(subject: string): Promise<X509Certificate> {
  const { keys } = await makeAuthority('any');
  const { rawData } = await x509.X509CertificateGenerator.createSelfSigned({ name: subject, keys });
  return new X509Certificate(Buffer.from(rawData));
}

t.test('the common name is found in any subject; the last one counts, as in the reference', async (t) => {
  const cases: readonly [subject: string, name: string | undefined][] = [
    ['C=US, CN=router', 'router'],
    ['CN=router+OU=edge', 'router'],
    ['OU=edge+CN=router, O=network', 'router'],
    ['CN=first, CN=last', 'last'],
    ['O=a \\+ CN\\=other, CN=one \\+ two\\, three', 'one + two, three'],
    ['O=CN\\=other', undefined],
  ];
  for (const [subject, name] of cases) t.equal(commonName(await certificateOf(subject)), name, subject);
});
