// `why login` and the login itself agree in random states: identities disabled, proofs expired, replaced or not
// allowed, passwords locked. The journal has the reason of each rejected login, which the answer does not have.

import { createPrivateKey } from 'node:crypto';
import t from 'tap';
import { seededRandom } from '#lib/random.ts';
import type { HttpEntry } from '../../controller-sim/lab/journal/journal-entry.ts';
import { type ApiAnswer, ApiClient } from '../support/clients/api-client.ts';
import { BY_COMMON_NAME, issue, makeAuthority } from '../support/clients/certificates.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const STEPS = 150;

interface Client {
  readonly name: string;
  readonly identityId: string;
  /** A login with each proof that the client has; the certificate is the last one. */
  logins: readonly (() => Promise<ApiAnswer>)[];
}

const hasPassword = ({ name }: Client) => name === 'anna' || name === 'berta';

/** Whether one of the proofs logs the client in, with a session that lacks no other proof. */
async function isLoggedIn(api: ApiClient, { logins }: Client): Promise<boolean> {
  const answers: ApiAnswer[] = [];
  for (const login of logins) answers.push(await login());
  for (const { status, data } of answers)
    if (status === 200 && (await api.ask('GET', '/services', { token: data.token })).status === 200) return true;
  return false;
}

/** The reason of the latest rejected login in the journal. */
function lastReason({ simulator }: ApiClient): string | undefined {
  const [entry] = simulator.lab.journal.entries({ operation: 'authenticate', status: 401, limit: 1 });
  return (entry as HttpEntry | undefined)?.reason;
}

/** Enrolls the identity again: its earlier certificate is replaced. */
async function enrollAgain(api: ApiClient, { identityId }: Client): Promise<() => Promise<ApiAnswer>> {
  const { id } = await api.simulator.lab.identity(identityId);
  const [pem, key] = [id.cert, id.key].map((text) => text.replace(/^pem:/, '')) as [string, string];
  const as = api.connect({ pem, key: createPrivateKey(key) });
  return () => api.loginWith(as);
}

for (const seed of [1, 2, 3])
  t.test(`why agrees with the login in random states, seed ${seed}`, async (t) => {
    await using api = await ApiClient.start();
    const random = seededRandom(seed);
    const authority = await makeAuthority('ours');
    const ca = await api.addAuthority('ours', authority);
    const policies = [
      await api.authPolicy('no certificates', { cert: { allowed: false } }),
      await api.authPolicy('no passwords', { updb: { allowed: false } }),
      await api.authPolicy('no expired ones', { cert: { allowExpiredCerts: false } }),
      await api.authPolicy('locks', { updb: { maxAttempts: 2, lockoutDurationMinutes: 20 } }),
      await api.authPolicy('two', { secondary: { requireTotp: true } }),
    ];
    const clients: Client[] = [];
    for (const name of ['anna', 'berta'])
      clients.push({ name, identityId: await api.person(name), logins: [() => api.tryLogin(name)] });
    for (const name of ['car', 'drone']) {
      const { identityId, ...issued } = await api.device(name);
      const as = api.connect(issued);
      clients.push({ name, identityId, logins: [() => api.loginWith(as)] });
    }
    const endOf = (hours: number) => api.clock.now() - (api.clock.now() % 1_000) + hours * HOUR;
    for (const [name, hours] of [
      ['engine', 1],
      ['ferry', 4],
    ] as const) {
      const as = api.connect(await issue(authority, name, { to: endOf(hours) }));
      await api.ask('POST', '/enroll/ca', { as });
      const { identityId } = (await api.loginWith(as)).data;
      clients.push({ name, identityId, logins: [() => api.loginWith(as)] });
    }
    // A claim of its authority names the identity: it has no authenticator. The authority ends before the certificate.
    const ending = await makeAuthority('ending', undefined, { to: endOf(2) });
    await api.addAuthority('ending', ending, { externalIdClaim: BY_COMMON_NAME });
    const fields = { name: 'glider', type: 'Device', isAdmin: false, externalId: 'glider' };
    const as = api.connect(await issue(ending, 'glider', { to: endOf(4) }));
    const identityId = await api.create('/identities', fields);
    clients.push({ name: 'glider', identityId, logins: [() => api.loginWith(as)] });
    const one = <T>(list: readonly T[]): T => list[Math.floor(random.next() * list.length)] as T;
    const steps: Readonly<Record<string, (client: Client) => Promise<unknown>>> = {
      disable: ({ identityId }) =>
        api.manage('POST', `/identities/${identityId}/disable`, { durationMinutes: one([0, 30]) }),
      enable: ({ identityId }) => api.manage('POST', `/identities/${identityId}/enable`),
      policy: ({ identityId }) => api.manage('PATCH', `/identities/${identityId}`, { authPolicyId: one(policies) }),
      default: ({ identityId }) => api.manage('PATCH', `/identities/${identityId}`, { authPolicyId: 'default' }),
      authority: () => api.manage('PATCH', `/cas/${ca}`, { isAuthEnabled: random.next() < 0.7 }),
      advance: () => api.clock.advance(one([MINUTE, 10 * MINUTE, 30 * MINUTE])),
      guess: async ({ name }) => {
        for (const password of ['one', 'two']) await api.tryLogin(name, password);
      },
      replace: async (client) => {
        if (random.next() > 0.2 || client.name === 'glider') return; // a claim is not replaced
        const former = hasPassword(client) ? client.logins[1] : client.logins[0];
        const login = await enrollAgain(api, client);
        client.logins = hasPassword(client) ? [client.logins[0] as typeof login, login] : [login];
        if ((await former?.())?.status === 401)
          t.match(
            lastReason(api),
            /^the certificate was replaced: .* has another one$|no identity has this certificate|disabled/,
          );
      },
    };
    const seen = new Set<boolean>();
    for (let step = 0; step < STEPS; step++) {
      const client = one(clients);
      const name = one(Object.keys(steps));
      await steps[name]?.(client);
      const { ok, reasons } = api.simulator.lab.whyLogin(client.identityId);
      const about = `step ${step}, ${name} of ${client.name}: ${JSON.stringify(reasons)}`;
      t.equal(ok, await isLoggedIn(api, client), about);
      seen.add(ok);
    }
    t.equal(seen.size, 2, 'there were both verdicts');
    for (const entry of api.simulator.lab.journal.entries({ operation: 'authenticate', status: 401, limit: 1_000 }))
      t.match((entry as HttpEntry).reason, /\w{3}/, 'each rejected login has a reason');
  });

t.test('the journal has the reason of a rejected login of the OIDC API', async (t) => {
  await using api = await ApiClient.start();
  await api.person('anna');
  const query =
    'client_id=openziti&response_type=code&scope=openid&redirect_uri=http%3A%2F%2Flocalhost%3A8080%2Fauth%2Fcallback';
  const challenge = 'code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256';
  const { headers } = await api.ask('GET', `/oidc/authorize?${query}&${challenge}`);
  const id = /authRequestID=([^&]+)/.exec(String(headers.location))?.[1];
  const type = 'application/x-www-form-urlencoded';
  const answer = await api.ask('POST', '/oidc/login/password', { body: `id=${id}&username=anna&password=wrong`, type });
  t.notMatch(answer.text, 'is wrong');
  t.match(api.simulator.lab.journal.entries({ path: '/oidc/login/password' }), [
    { status: 401, code: 'INVALID_AUTH', reason: 'the password of anna is wrong' },
  ]);
});

t.test('the journal has the reason of a rejected login; the answer is the same for all', async (t) => {
  await using api = await ApiClient.start();
  const authority = await makeAuthority('ours');
  await api.addAuthority('ours', authority);
  await api.person('anna');
  const { identityId, ...issued } = await api.device('car');
  const car = api.connect(issued);
  const to = api.clock.now() - (api.clock.now() % 1_000) + HOUR;
  const engine = api.connect(await issue(authority, 'engine', { to }));
  await api.ask('POST', '/enroll/ca', { as: engine });
  const engineId = (await api.loginWith(engine)).data.identityId;
  const strict = await api.authPolicy('strict', { cert: { allowExpiredCerts: false } });
  const noCertificates = await api.authPolicy('passwords', { cert: { allowed: false } });
  const noPasswords = await api.authPolicy('certificates', { updb: { allowed: false } });
  const stranger = api.connect(await issue(await makeAuthority('elsewhere'), 'car'));
  const set = (id: string, authPolicyId: string) => api.manage('PATCH', `/identities/${id}`, { authPolicyId });
  const anna = (await api.get('/identities?filter=name="anna"'))[0].id;
  const answers = new Set<string>();
  const rejected = async (login: () => Promise<ApiAnswer>, reason: RegExp) => {
    const { status, code, text } = await login();
    t.match([status, code, lastReason(api)], [401, 'INVALID_AUTH', reason]);
    answers.add(text.replace(/"requestId":"[^"]*"/, ''));
  };
  await rejected(() => api.tryLogin('nobody'), /^no identity has this username$/);
  await rejected(() => api.tryLogin('anna', 'wrong'), /^the password of anna is wrong$/);
  await set(anna, noPasswords);
  await rejected(() => api.tryLogin('anna'), /^the auth policy certificates does not allow passwords$/);
  await set(anna, 'default');
  await api.manage('POST', `/identities/${anna}/disable`, { durationMinutes: 0 });
  await rejected(() => api.tryLogin('anna'), /^anna is disabled$/);
  await rejected(() => api.loginWith(stranger), /^no trusted authority has signed the certificate$/);
  await rejected(() => api.ask('POST', '/authenticate?method=cert', { body: {} }), /presented no certificate$/);
  await set(identityId, noCertificates);
  await rejected(() => api.loginWith(car), /^the auth policy passwords does not allow certificates$/);
  t.match(api.simulator.lab.whyLogin('car'), {
    ok: false,
    reasons: [{ message: 'a certificate is rejected: the auth policy passwords does not allow certificates' }],
  });
  await set(identityId, 'default');
  await api.simulator.lab.identity('car');
  await rejected(() => api.loginWith(car), /^the certificate was replaced: car has another one$/);
  for (const { id } of await api.get(`/identities/${identityId}/authenticators`))
    await api.change('DELETE', `/authenticators/${id}`);
  await rejected(
    () => api.loginWith(car),
    /^the authenticator of the certificate was deleted: car has no certificate$/,
  );
  await set(engineId, strict);
  await api.clock.advance(2 * HOUR);
  const expired = /the certificate of engine expired on .*, and the auth policy strict does not allow expired ones$/;
  await rejected(() => api.loginWith(engine), expired);
  t.match(api.simulator.lab.whyLogin(engineId), { ok: false, reasons: [{ message: expired }] });
  t.equal(answers.size, 1, 'a client does not learn the reason');
});
