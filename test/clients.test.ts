// What programs written for the reference send and need, found by running them: its command line stops where one of these is missing.

import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import t from 'tap';
import { Agent, request } from 'undici';
import { subjectAltNames } from '#lib/certificates.ts';
import { createCsr } from '../agent/identity/csr.ts';
import { Overlay } from './support/overlay.ts';

t.test('posture checks of every type have a list of role attributes, also an empty one', async (t) => {
  const overlay = await Overlay.start();
  const checks = [
    { typeId: 'OS', operatingSystems: [{ type: 'Linux', versions: [] }] },
    { typeId: 'DOMAIN', domains: ['example.com'] },
    { typeId: 'MAC', macAddresses: ['00:11:22:33:44:55'] },
    { typeId: 'MFA', timeoutSeconds: 60 },
    { typeId: 'PROCESS', process: { osType: 'Linux', path: '/a' } },
    { typeId: 'PROCESS_MULTI', semantic: 'AllOf', processes: [{ osType: 'Linux', path: '/a' }] },
  ];
  for (const check of checks) await overlay.management.create('posture-checks', { name: check.typeId, ...check });
  const listed = await overlay.management.get<{ typeId: string; roleAttributes: unknown }[]>('posture-checks');
  t.same(listed.map(({ typeId }) => typeId).sort(), checks.map(({ typeId }) => typeId).sort());
  for (const { typeId, roleAttributes } of listed) t.same(roleAttributes, [], typeId);
  await overlay.close();
});

t.test('a signer of tokens without an address for logins has an empty one', async (t) => {
  const overlay = await Overlay.start();
  const signer = { name: 's', issuer: 'i', audience: 'a', jwksEndpoint: 'https://localhost:1/keys', enabled: true };
  const id = await overlay.management.create('external-jwt-signers', { ...signer, externalAuthUrl: '' });
  t.match(await overlay.management.get(`external-jwt-signers/${id}`), { externalAuthUrl: '' });
  await t.rejects(
    overlay.management.create('external-jwt-signers', { ...signer, name: 't', externalAuthUrl: 'no address' }),
    /externalAuthUrl/,
  );
  await overlay.close();
});

t.test('a request for a certificate brings names along, but does not say who somebody is', async (t) => {
  const overlay = await Overlay.start();
  const { baseUrl, ca } = overlay.simulator;
  const id = await overlay.management.create('identities', {
    name: 'a',
    type: 'Default',
    isAdmin: false,
    enrollment: { ott: true },
  });
  const { enrollment } = await overlay.management.get<{ enrollment: { ott: { token: string } } }>(`identities/${id}`);
  const uri = [
    'spiffe://elsewhere/identity/another',
    'SPIFFE://elsewhere/router/another',
    'https://a.example/?b, DNS:c',
  ];
  const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const agent = new Agent({ connect: { ca } });
  const answer = await request(`${baseUrl}/edge/client/v1/enroll?method=ott&token=${enrollment.ott.token}`, {
    method: 'POST',
    dispatcher: agent,
    headers: { 'content-type': 'application/x-pem-file' },
    body: createCsr('a', { sans: { dns: ['a.example'], ip: ['127.0.0.1', '::1'], uri, email: [] } }, key),
  });
  const names = subjectAltNames(new X509Certificate(await answer.body.text()));
  t.same(names.dns, ['a.example']);
  t.same(
    names.uri.filter((each) => !each.endsWith(`/identity/${id}`)),
    ['https://a.example/?b, DNS:c'],
  );
  t.equal(names.uri.length, 2);
  await agent.close();
  await overlay.close();
});
