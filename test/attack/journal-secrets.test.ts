// Attacks on the journal: secrets in every part of a request, where they belong and where they do not. None appears in
// an entry, or can be found with its filters.

import { Secret, TOTP } from 'otpauth';
import t from 'tap';
import { ApiClient, newRequest, PASSWORD } from '../support/clients/api-client.ts';
import { OidcClient } from '../support/clients/oidc-client.ts';

const FORM = 'application/x-www-form-urlencoded';

/** Real secrets of every kind, each used once where it belongs. */
async function secretsOf(api: ApiClient): Promise<Map<string, string>> {
  const secrets = new Map([['password', PASSWORD]]);
  await api.person('jane');
  const session = await api.login('jane');
  secrets.set('session', session);
  const { body } = await new OidcClient(api).login('jane', PASSWORD);
  for (const type of ['access_token', 'refresh_token', 'id_token'])
    secrets.set(type, String(body[type]).split('.').at(-1) ?? '');
  await new OidcClient(api).refresh(String(body.refresh_token));
  await api.ask('GET', '/current-identity', { headers: { authorization: `Bearer ${body.access_token}` } });
  const { key, csr } = newRequest('device');
  secrets.set('key', key.export({ type: 'pkcs8', format: 'pem' }).toString().split('\n')[1] ?? '');
  secrets.set('csr', csr.split('\n')[1] ?? '');
  const device = await api.create('/identities', {
    name: 'device',
    type: 'Device',
    isAdmin: false,
    enrollment: { ott: true },
  });
  const { enrollment } = await api.get(`/identities/${device}`);
  secrets.set('enrollment token', enrollment.ott.token).set('enrollment JWT', enrollment.ott.jwt.split('.')[2]);
  await api.ask('POST', '/enroll/ott', { body: { token: enrollment.ott.token, clientCsr: csr } });
  await api.create('/current-identity/mfa', {}, session);
  const mfa = await api.get('/current-identity/mfa', session);
  const secret = new URL(mfa.provisioningUrl).searchParams.get('secret') ?? '';
  const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: api.clock.now() });
  secrets.set('TOTP secret', secret).set('recovery code', mfa.recoveryCodes[0]).set('one-time password', code);
  await api.change('POST', '/current-identity/mfa/verify', { code }, session);
  await api.ask('GET', '/current-identity/mfa/recovery-codes', {
    token: session,
    headers: { 'mfa-validation-code': mfa.recoveryCodes[0] },
  });
  return secrets;
}

/** Sends a secret in all the places where clients have put one by mistake. */
async function misplace(api: ApiClient, secret: string): Promise<void> {
  const text = encodeURIComponent(secret);
  for (const path of [
    `/enroll/${text}`,
    `/enroll/ott/${text}`,
    `/edge/client/v1/enroll/${text}/x`,
    `/oidc/login/${text}`,
    `/enroll?method=ott&token=${text}`,
    `/enroll/ott?${text}`,
    `/enroll/ott?x=${text}`,
    `/enroll/ott?${text}=x`,
    `/version?zt-session=${text}&filter=${encodeURIComponent(`token = "${secret}"`)}`,
    `/enroll/ott?method=ott&Token=${text}`,
  ])
    await api.ask('POST', path, { body: {} });
  for (const body of [
    { username: 'x', password: secret },
    { nested: [{ deep: { apiKey: secret, Password: secret, client_secret: secret, refreshToken: [secret] } }] },
    { tags: { jwt: { parts: secret } } },
    [{ code: secret }],
  ])
    await api.ask('POST', '/authenticate?method=password', { body });
  await api.ask('POST', '/authenticate?method=password', { body: JSON.stringify(secret) });
  await api.ask('POST', '/authenticate?method=password', { body: secret, type: 'text/plain' });
  await api.ask('POST', '/authenticate?method=password', { body: `{"password":"${secret}"` });
  const form = new URLSearchParams({ username: 'x', password: secret, code: secret, refresh_token: secret });
  await api.ask('POST', '/oidc/oauth/token', { body: form.toString(), type: FORM });
  await api.ask('POST', `/oidc/login/password?id=${text}`, { body: form.toString(), type: FORM });
  for (const name of ['zt-session', 'authorization', 'session-token', 'cookie', 'x-forwarded-for'])
    await api.ask('GET', '/current-identity', { headers: { [name]: secret.replaceAll(/[^\x20-\x7e]/g, '') } });
}

t.test('no secret of a request appears in the journal', async (t) => {
  await using api = await ApiClient.start();
  const secrets = await secretsOf(api);
  const { text } = api.simulator.lab.journal.recording();
  for (const [what, secret] of secrets) t.notOk(text.includes(secret), `${what} in the recording`);
  for (const secret of [...secrets.values()]) await misplace(api, secret);
  secrets.set('session of the administrator', api.token);
  const { journal } = api.simulator.lab;
  const entries = journal.entries();
  t.ok(entries.length > 200, `${entries.length} entries`);
  const all = JSON.stringify(entries);
  const listed = JSON.stringify(await api.get('/lab/v1/journal?limit=1000'));
  for (const [what, secret] of secrets) {
    t.ok(secret.length >= 6, what);
    for (const form of new Set([secret, encodeURIComponent(secret), secret.slice(0, 20)])) {
      const place = all.indexOf(form);
      t.ok(place < 0, `${what} in ${all.slice(Math.max(0, place - 200), place + 20)}`);
      t.notOk(listed.includes(form), `${what} in the answer of the API`);
    }
    for (const path of [`/enroll/${secret}`, `/enroll/ott/${secret.slice(0, 4)}`])
      t.same(journal.entries({ path }), [], `${what} is not found by a prefix of the path`);
  }
});
