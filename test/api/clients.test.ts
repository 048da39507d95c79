// Requirements of programs written for the reference, found by running them: its command line or its C SDK fails
// without any of these.

import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import t from 'tap';
import { subjectAltNames } from '#pki/certificates.ts';
import { readCertificateBag } from '../../agent/enroll/pkcs7.ts';
import { createCsr } from '../../agent/identity/csr.ts';
import { ApiClient } from '../support/clients/api-client.ts';

t.test('posture checks of every type have a list of role attributes, even if it is empty', async (t) => {
  await using api = await ApiClient.start();
  const checks = [
    { typeId: 'OS', operatingSystems: [{ type: 'Linux', versions: [] }] },
    { typeId: 'DOMAIN', domains: ['example.com'] },
    { typeId: 'MAC', macAddresses: ['00:11:22:33:44:55'] },
    { typeId: 'MFA', timeoutSeconds: 60 },
    { typeId: 'PROCESS', process: { osType: 'Linux', path: '/a' } },
    { typeId: 'PROCESS_MULTI', semantic: 'AllOf', processes: [{ osType: 'Linux', path: '/a' }] },
  ];
  for (const check of checks) await api.create('/posture-checks', { name: check.typeId, ...check });
  const listed = await api.get<{ typeId: string; roleAttributes: unknown }[]>('/posture-checks');
  t.same(listed.map(({ typeId }) => typeId).sort(), checks.map(({ typeId }) => typeId).sort());
  for (const { typeId, roleAttributes } of listed) t.same(roleAttributes, [], typeId);
});

t.test('a signer without an address for logins has an empty one', async (t) => {
  await using api = await ApiClient.start();
  const signer = { name: 's', issuer: 'i', audience: 'a', jwksEndpoint: 'https://localhost:1/keys', enabled: true };
  const id = await api.create('/external-jwt-signers', { ...signer, externalAuthUrl: '' });
  t.match(await api.get(`/external-jwt-signers/${id}`), { externalAuthUrl: '' });
  await t.rejects(
    api.create('/external-jwt-signers', { ...signer, name: 't', externalAuthUrl: 'no address' }),
    /externalAuthUrl/,
  );
});

t.test("a router's certificate has the names of the request, but not its SPIFFE ids", async (t) => {
  await using api = await ApiClient.start();
  const id = await api.create('/edge-routers', { name: 'a' });
  const { enrollmentToken } = await api.get(`/edge-routers/${id}`);
  const uri = [
    'spiffe://elsewhere/identity/another',
    'SPIFFE://elsewhere/router/another',
    'https://a.example/?b, DNS:c',
  ];
  const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const csr = createCsr(id, { sans: { dns: ['a.example'], ip: ['127.0.0.1', '::1'], uri, email: [] } }, key);
  const body = { certCsr: csr, serverCertCsr: csr };
  const { data } = await api.ask('POST', `/enroll?method=erott&token=${enrollmentToken}`, { body });
  for (const pem of [data.cert, data.serverCert]) {
    const names = subjectAltNames(new X509Certificate(pem));
    t.same([names.dns, names.ip.length], [['a.example'], 2]);
    t.same(
      names.uri.filter((each) => !each.endsWith(`/router/${id}`)),
      ['https://a.example/?b, DNS:c'],
    );
    t.equal(names.uri.length, 2);
  }
});

t.test('the authorities for enrollment are sent in lines of 64 characters', async (t) => {
  await using api = await ApiClient.start();
  const { text, headers } = await api.ask('GET', '/.well-known/est/cacerts');
  const lines = text.split('\n');
  const last = lines.pop() ?? '';
  t.ok(lines.length > 0 && lines.every((line) => line.length === 64), 'full lines');
  t.ok(last.length > 0 && last.length <= 64, 'no line break at the end');
  t.equal(headers['content-transfer-encoding'], 'base64');
  t.ok(readCertificateBag(Buffer.from(text, 'base64')).length > 0);
});
