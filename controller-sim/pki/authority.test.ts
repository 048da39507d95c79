// The key that signs tokens: usable by every SDK, and kept in existing data.

import { generateKeyPairSync } from 'node:crypto';
import t from 'tap';
import { IdSource } from '#lib/ids.ts';
import { seededRandom } from '#lib/random.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { State } from '../state/state.ts';
import { MemoryStore } from '../state/store/memory-store.ts';
import { Authority } from './authority.ts';
import { Tokens } from './tokens.ts';
import { x509 } from './x509.ts';

const clock = new VirtualClock();
const newState = () => State.open({ store: new MemoryStore(), clock, ids: new IdSource(seededRandom(1)) });

/** The claims of a token of the authority, as its issuer verifies it. */
async function readBack(authority: Authority): Promise<unknown> {
  const tokens = new Tokens({
    authority,
    clock,
    issuer: 'https://host',
    issuers: () => ['https://host'],
    controlAddresses: () => ['tls:host:1'],
  });
  return (await tokens.verify(await tokens.totp('id', 'anna')))?.jti;
}

t.test('tokens are signed with RSA, which even old SDKs can verify', async (t) => {
  const authority = await Authority.open({ state: await newState(), clock }, ['localhost']);
  t.equal(authority.tokenAlgorithm, 'RS256');
  t.match(authority.publicJwk, { kty: 'RSA', alg: 'RS256', use: 'sig', kid: authority.keyId });
  t.equal(await readBack(authority), 'id');
});

t.test('a data file with another key keeps it, even if its certificate is renewed', async (t) => {
  const state = await newState();
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const certificate = await selfSigned(key, publicKey.export({ type: 'spki', format: 'der' }));
  await state.putMeta(new Map([['pki.server', JSON.stringify({ certificate, key })]]));
  const authority = await Authority.open({ state, clock }, ['other.example']);
  t.equal(authority.tokenAlgorithm, 'ES256');
  t.ok(authority.serverCertificate.checkPrivateKey(privateKey));
  t.not(authority.serverCertificate.toString(), certificate);
  t.equal(await readBack(authority), 'id');
});

t.test(
  'the listener announces no authorities, so that clients of authorities that are added later present certificates',
  async (t) => {
    const authority = await Authority.open({ state: await newState(), clock }, ['localhost']);
    t.same(authority.serverContext().ca, []);
  },
);

async function selfSigned(pem: string, spki: Buffer): Promise<string> {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const der = Buffer.from(pem.replace(/-----.*?-----|\s/g, ''), 'base64');
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: 'CN=before',
    notBefore: new Date(0),
    notAfter: new Date(clock.now() + 1),
    signingAlgorithm: algorithm,
    keys: {
      privateKey: await crypto.subtle.importKey('pkcs8', new Uint8Array(der), algorithm, true, ['sign']),
      publicKey: await crypto.subtle.importKey('spki', new Uint8Array(spki), algorithm, true, ['verify']),
    },
  });
  return certificate.toString('pem');
}
