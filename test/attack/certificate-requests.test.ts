// Attacks on certificates: requests with names of others, an authority, a server.

import { createPrivateKey, type KeyObject, webcrypto } from 'node:crypto';
import { create, toBinary } from '@bufbuild/protobuf';
import t from 'tap';
import { leafOf } from '#pki/certificates.ts';
import { EnrollmentCertsResponseSchema, EnrollmentExtendRouterRequestSchema } from '#wire/gen/edge_control_pb.js';
import { EdgeControlType } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import { x509 } from '../../controller-sim/pki/x509.ts';
import { ApiClient, filtered, PASSWORD } from '../support/clients/api-client.ts';
import { OidcClient } from '../support/clients/oidc-client.ts';
import { TokenIssuer } from '../support/clients/token-issuer.ts';
import { RouterPeer } from '../support/hostile/router-peer.ts';
import { Overlay } from '../support/networks/overlay.ts';

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const FORGED = {
  dns: ['evil.example', '*.internal.example', 'localhost'],
  ip: ['10.0.0.1', '127.0.0.1'],
  email: ['boss@example'],
  url: ['spiffe://evil/identity/boss', 'https://evil.example/'],
} as const;
/** Key id, key usage, alternative names, basic constraints, authority key, extended key usage. */
const OWN_EXTENSIONS = ['2.5.29.14', '2.5.29.15', '2.5.29.17', '2.5.29.19', '2.5.29.35', '2.5.29.37'];

/** A request with forged contents: names of others, an authority, a server. */
async function forgedRequest(commonName: string): Promise<{ csr: string; key: KeyObject }> {
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const names = Object.entries(FORGED).flatMap(([type, values]) =>
    values.map((value) => ({ type: type as keyof typeof FORGED, value })),
  );
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    name: [{ C: ['RU'] }, { O: ['Evil'] }, { OU: ['Admins'] }, { CN: [commonName] }],
    keys,
    signingAlgorithm: ALGORITHM,
    extensions: [
      new x509.SubjectAlternativeNameExtension(names),
      new x509.BasicConstraintsExtension(true, 3, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      new x509.ExtendedKeyUsageExtension(['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.3']),
      new x509.Extension('1.2.3.4.5', false, new Uint8Array([5, 0])),
    ],
  });
  const key = createPrivateKey({
    key: Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)),
    format: 'der',
    type: 'pkcs8',
  });
  return { csr: request.toString('pem'), key };
}

/** The names and purposes in a certificate. */
function contentsOf(pem: string) {
  const certificate = new x509.X509Certificate(leafOf(pem).toString());
  const usages = certificate.getExtension(x509.KeyUsagesExtension)?.usages;
  return {
    subject: certificate.subject,
    names: certificate.getExtension(x509.SubjectAlternativeNameExtension)?.names.toJSON() ?? [],
    purposes: certificate.getExtension(x509.ExtendedKeyUsageExtension)?.usages ?? [],
    signs: ((usages ?? 0) & (x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign)) !== 0,
    isAuthority: certificate.getExtension(x509.BasicConstraintsExtension)?.ca,
    others: certificate.extensions.map(({ type }) => type).filter((type) => !OWN_EXTENSIONS.includes(type)),
  };
}

const CLIENT = '1.3.6.1.5.5.7.3.2';
const SERVER = '1.3.6.1.5.5.7.3.1';

t.test('certificates of identities copy only the key from the request, on every path', async (t) => {
  await using api = await ApiClient.start();
  await using idp = await TokenIssuer.start('https://idp.example', api.clock);
  await idp.addKey('k1');
  await api.create('/external-jwt-signers', {
    ...{ name: 'idp', issuer: 'https://idp.example', audience: 'edge', enabled: true, jwksEndpoint: idp.endpoint },
    ...{ useExternalId: true, enrollToCertEnabled: true, enrollAuthPolicyId: 'default' },
  });
  const { csr, key } = await forgedRequest('evil.example');
  const oidc = new OidcClient(api);
  const signed: [path: string, identityId: string, pem: string][] = [];

  for (const [path, type, body] of [
    ['/enroll?method=ott&token=', 'application/x-pem-file', () => csr],
    ['/enroll/ott?token=', 'application/json', (token: string) => ({ token, clientCsr: csr })],
  ] as const) {
    const id = await api.create('/identities', { name: path, type: 'User', isAdmin: false, enrollment: { ott: true } });
    const { token } = (await api.get(`/identities/${id}`)).enrollment.ott;
    const answer = await api.ask('POST', `${path}${token}`, { body: body(token), type });
    signed.push([path, id, answer.data?.cert]);
  }
  const [[, deviceId, pem] = ['', '', '']] = signed;
  const device = api.connect({ pem, key });
  const { data: session } = await api.loginWith(device);
  const own = `/current-identity/authenticators/${session.authenticatorId}`;
  const at = { token: session.token, as: device };
  const extended = await api.ask('POST', `${own}/extend`, { ...at, body: { clientCertCsr: csr } });
  signed.push(['extend', deviceId, extended.data.clientCert]);
  await api.ask('POST', `${own}/extend-verify`, { ...at, body: { clientCert: extended.data.clientCert } });
  const [tokensIn] = await api.get('/current-identity/authenticators', session.token);
  signed.push(['extend-verify', deviceId, tokensIn.certPem]);
  const created = await api.ask('POST', '/current-api-session/certificates', { ...at, body: { csr } });
  signed.push(['certificate of a session', deviceId, created.data.certificate]);

  const bearer = { authorization: `Bearer ${await idp.token('k1', { sub: 'someone' })}` };
  const enrolled = await api.ask('POST', '/enroll/token', { headers: bearer, body: { clientCsr: csr } });
  const { data: found } = await api.manage('GET', filtered('/identities', 'externalId = "someone"'));
  signed.push(['enroll token', found[0].id, enrolled.data.cert]);

  const person = await api.person('person');
  const login = await oidc.login('person', PASSWORD, { csrPem: csr });
  signed.push(['OIDC code', person, String(login.body.session_cert)]);
  const bound = new OidcClient(api, api.connect({ pem: String(login.body.session_cert), key }));
  const refreshed = await bound.refresh(String(login.body.refresh_token), { csr_pem: csr });
  signed.push(['OIDC refresh', person, String(refreshed.body.session_cert)]);

  for (const [path, identityId, certificate] of signed) {
    const { names, ...contents } = contentsOf(certificate);
    const expected = { subject: `CN=${identityId}`, purposes: [CLIENT], signs: false, isAuthority: false, others: [] };
    t.same(contents, expected, path);
    t.match(names, [{ type: 'url', value: /^spiffe:\/\/[\da-f]{40}\/identity\// }], path);
    t.ok(names.length === 1 && names[0]?.value.split('/')[4] === identityId, path);
  }
  t.equal(signed.length, 8);
});

t.test('certificates of routers copy only host names and the key from the request', async (t) => {
  const overlay = await Overlay.start();
  await using api = new ApiClient(overlay.simulator);
  const signed: [path: string, routerId: string, certs: readonly string[]][] = [];
  const id = await api.create('/edge-routers', { name: 'forger' });
  const { csr, key } = await forgedRequest(id);
  const { enrollmentToken } = await api.get(`/edge-routers/${id}`);
  const body = { certCsr: csr, serverCertCsr: csr };
  const { data } = await api.ask('POST', `/enroll?method=erott&token=${enrollmentToken}`, { body });
  signed.push(['enroll', id, [data.cert, data.serverCert]]);
  const extended = await api.ask('POST', '/enroll/extend/router', { body, as: api.connect({ pem: data.cert, key }) });
  signed.push(['extend over HTTP', id, [extended.data.cert, extended.data.serverCert]]);
  const transit = await api.create('/transit-routers', { name: 'transit' });
  const { csr: other } = await forgedRequest(transit);
  const token = (await api.get(`/transit-routers/${transit}`)).enrollmentToken;
  const carried = { certCsr: other, serverCertCsr: other };
  const enrolled = await api.ask('POST', `/enroll?method=trott&token=${token}`, { body: carried });
  signed.push(['enroll transit', transit, [enrolled.data.cert, enrolled.data.serverCert]]);

  const { id: connected, configFile } = await overlay.enrollRouter({ name: 'connected' });
  const peer = await RouterPeer.connect(configFile);
  const request = create(EnrollmentExtendRouterRequestSchema, {
    clientCertCsr: csr,
    serverCertCsr: csr,
    requireVerification: true,
  });
  const message = new Message(
    EdgeControlType.EnrollmentExtendRouter,
    [],
    toBinary(EnrollmentExtendRouterRequestSchema, request),
  );
  const answer = await peer.ask(message, EdgeControlType.EnrollmentCertsResponse);
  const { clientCertPem, serverCertPem } = answer.decode(EnrollmentCertsResponseSchema);
  signed.push(['extend over the control channel', connected, [clientCertPem, serverCertPem]]);
  peer.close();
  await overlay.close();

  const allowed = Object.entries(FORGED).flatMap(([type, values]) =>
    values.filter((value) => !value.startsWith('spiffe:')).map((value) => `${type} ${value}`),
  );
  for (const [path, routerId, certs] of signed) {
    for (const [index, pem] of certs.entries()) {
      const { names, purposes, ...contents } = contentsOf(pem);
      const what = `${path} ${index === 0 ? 'client' : 'server'}`;
      t.same(contents, { subject: `CN=${routerId}`, signs: false, isAuthority: false, others: [] }, what);
      t.equal(purposes[0], index === 0 ? CLIENT : SERVER, what);
      const own = names.filter(({ value }) => value.startsWith('spiffe:'));
      t.match(own, [{ value: new RegExp(`/router/${routerId}$`) }], what);
      const copied = names.filter((each) => !own.includes(each)).map(({ type, value }) => `${type} ${value}`);
      t.same(copied.sort(), [...allowed].sort(), what);
    }
  }
});
