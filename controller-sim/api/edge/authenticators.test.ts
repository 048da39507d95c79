// The print of a certificate's key, which filters and sorts read for each comparison.

import { createHash, X509Certificate } from 'node:crypto';
import t from 'tap';
import { ApiClient } from '../../../test/support/clients/api-client.ts';
import { makeAuthority } from '../../../test/support/clients/certificates.ts';
import type { Authenticator } from '../../state/kinds/authenticator.ts';
import { publicKeyPrint } from './authenticators.ts';

t.test('the certificate of an authenticator is parsed once', async (t) => {
  const pem = (await makeAuthority('one')).certificate.toString('pem');
  let parsed = 0;
  const authenticator = {
    get certPem() {
      parsed++;
      return pem;
    },
  } as Authenticator;
  const print = publicKeyPrint(authenticator);
  t.match(print, /^[0-9a-f]{40}$/);
  for (let round = 0; round < 100; round++) t.equal(publicKeyPrint(authenticator), print);
  t.equal(parsed, 1);
  t.equal(publicKeyPrint({ certPem: null } as Authenticator), null);
});

t.test('authenticators are found by the print of their key', async (t) => {
  await using api = await ApiClient.start();
  const devices = [await api.device('one'), await api.device('two')];
  for (const { pem, identityId } of devices) {
    const key = new X509Certificate(pem).publicKey.export({ type: 'spki', format: 'der' });
    const print = createHash('sha1').update(key).digest('hex');
    const found = await api.get(`/authenticators?filter=publicKeyPrint="${print}"`);
    t.match(found, [{ identityId }]);
    t.equal(found.length, 1);
  }
});
