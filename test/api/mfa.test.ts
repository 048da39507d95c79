// The second factor: enrollment, verification, use, renewal and removal, and the limits of a session that still lacks
// it.

import { createHash } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import { toBuffer } from 'qrcode';
import t from 'tap';
import { ApiClient, PASSWORD } from '../support/clients/api-client.ts';

const SECOND = 1_000;
const STEP = 30 * SECOND;
const MFA = '/current-identity/mfa';
const RECOVERY = '/current-identity/mfa/recovery-codes';
/** For a client of the OIDC API (RFC 7636). */
const VERIFIER = 'v'.repeat(43);
const WRONG_CODE = { status: 400, code: 'MFA_INVALID_TOKEN' };
const NOT_ALLOWED = { status: 401, code: 'UNAUTHORIZED' };

/** A user with an authenticator app. */
class Person {
  readonly #api: ApiClient;
  readonly name: string;
  token = '';
  secret = '';
  recoveryCodes: string[] = [];

  constructor(api: ApiClient, name: string) {
    this.#api = api;
    this.name = name;
  }

  async login(): Promise<void> {
    this.token = await this.#api.login(this.name);
  }

  /** Starts an enrollment and configures the app. */
  async begin(): Promise<void> {
    await this.ask('POST', MFA);
    const { data } = await this.ask('GET', MFA);
    this.secret = new URL(data.provisioningUrl).searchParams.get('secret') ?? '';
    this.recoveryCodes = data.recoveryCodes;
  }

  async enroll(): Promise<void> {
    await this.begin();
    await this.ask('POST', `${MFA}/verify`, this.code());
  }

  /** The app's code, `steps` later. */
  code(steps = 0): string {
    const totp = new TOTP({ secret: Secret.fromBase32(this.secret) });
    return totp.generate({ timestamp: this.#api.clock.now() + steps * STEP });
  }

  /** The app's next code: each code can be used once. */
  async nextCode(): Promise<string> {
    await this.#api.clock.advance(STEP);
    return this.code();
  }

  /** Six digits that the app does not generate around now. */
  wrongCode(): string {
    const near = new Set(Array.from({ length: 11 }, (_, index) => this.code(index - 5)));
    return ['000000', ...Array.from({ length: 11 }, (_, index) => `00000${index}`.slice(-6))].find(
      (code) => !near.has(code),
    ) as string;
  }

  ask(method: 'GET' | 'POST' | 'DELETE', path: string, code?: string) {
    const isBody = method === 'POST' && code !== undefined;
    return this.#api.ask(method, path, {
      token: this.token,
      ...(isBody && { body: { code } }),
      ...(!isBody && code !== undefined && { headers: { 'mfa-validation-code': code } }),
    });
  }

  /** Authenticates with a code. */
  give(code: string) {
    return this.ask('POST', '/authenticate/mfa', code);
  }
}

async function withPerson(
  work: (api: ApiClient, anna: Person, id: string) => Promise<void>,
  fields = {},
): Promise<void> {
  await using api = await ApiClient.start();
  const id = await api.person('anna', fields);
  const anna = new Person(api, 'anna');
  await anna.login();
  await work(api, anna, id);
}

t.test(
  'an enrollment starts once, is verified with a code of the app, and reveals its secrets only until then',
  async (t) => {
    await withPerson(async (api, anna, id) => {
      const isEnabled = async () => (await api.get(`/identities/${id}`)).isMfaEnabled;
      t.match(await anna.ask('GET', MFA), { status: 404, code: 'NOT_FOUND' }, 'no enrollment yet');
      t.match(await anna.ask('GET', `${MFA}/qr-code`), { status: 404 });
      t.match(await anna.ask('POST', `${MFA}/verify`, '123456'), { status: 404, code: 'NOT_FOUND' });
      t.match(await anna.ask('DELETE', MFA, ''), { status: 404 });
      t.match(await anna.ask('GET', RECOVERY, '123456'), { status: 404, code: 'NOT_FOUND' });

      const begun = await anna.ask('POST', MFA);
      t.match(begun, { status: 201, data: { id: String, _links: { self: { href: './current-identity/mfa' } } } });
      const { data } = await anna.ask('GET', MFA);
      t.match(data, { id: begun.data.id, isVerified: false, recoveryCodes: { length: 20 } });
      t.ok(data.recoveryCodes.every((code: string) => /^[A-Z2-7]{6}$/.test(code)));
      t.equal(new Set(data.recoveryCodes).size, 20);
      const url = new URL(data.provisioningUrl);
      t.match(url.searchParams.get('secret'), /^[A-Z2-7]{32}$/);
      const [, issuer = ''] = /^otpauth:\/\/totp\/([^:?]+):anna\?/.exec(data.provisioningUrl) ?? [];
      t.equal(url.searchParams.get('issuer'), decodeURIComponent(issuer));
      t.match(await anna.ask('POST', MFA), { status: 409, code: 'MFA_EXISTS' });
      t.equal((await anna.ask('GET', MFA)).data.provisioningUrl, data.provisioningUrl, 'the first one remains');

      const image = await anna.ask('GET', `${MFA}/qr-code`);
      t.equal(image.headers['content-type'], 'image/png');
      t.same(image.bytes.subarray(0, 8), Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'));
      t.same([image.bytes.readUInt32BE(16), image.bytes.readUInt32BE(20)], [256, 256]);
      t.same(image.bytes, await toBuffer(data.provisioningUrl, { type: 'png', width: 256 }), 'it encodes the URL');

      anna.secret = url.searchParams.get('secret') ?? '';
      for (const code of [anna.wrongCode(), '', '12345', data.recoveryCodes[0], `${anna.code()}0`])
        t.match(await anna.ask('POST', `${MFA}/verify`, code), WRONG_CODE, `'${code}'`);
      t.equal(await isEnabled(), false);
      t.match(await anna.ask('POST', `${MFA}/verify`, anna.code()), { status: 200, data: {} });
      t.equal(await isEnabled(), true);
      const verified = (await anna.ask('GET', MFA)).data;
      t.same([verified.isVerified, verified.provisioningUrl, verified.recoveryCodes], [true, undefined, null]);
      t.match(await anna.ask('GET', `${MFA}/qr-code`), { status: 404 });
      t.match(await anna.ask('POST', MFA), { status: 409, code: 'MFA_EXISTS' });
      t.match(await anna.ask('GET', '/services'), { status: 200 }, 'this session has given its code');
    });
  },
);

t.test(
  'an unverified second factor is removed without a code; a verified one with a code, or by an administrator',
  async (t) => {
    await withPerson(async (api, anna, id) => {
      await anna.begin();
      t.match(await anna.ask('DELETE', MFA, ''), { status: 200, data: {} });
      t.match(await anna.ask('GET', MFA), { status: 404 });

      await anna.enroll();
      for (const code of ['', anna.wrongCode()]) t.match(await anna.ask('DELETE', MFA, code), WRONG_CODE);
      const old = anna.secret;
      t.match(await anna.ask('DELETE', MFA, await anna.nextCode()), { status: 200, data: {} });
      t.equal((await api.tryLogin('anna')).data.isMfaRequired, false);

      await anna.enroll();
      t.not(anna.secret, old, 'the next one has a new secret');
      t.match(await api.manage('DELETE', `/identities/${id}/mfa`), { status: 200, data: {} });
      t.match(await anna.ask('GET', MFA), { status: 404 });
      t.equal((await api.tryLogin('anna')).data.isMfaRequired, false);
      t.match(await api.manage('DELETE', '/identities/nobody/mfa'), { status: 404 });
    });
  },
);

t.test('a session lacks the second factor until it is given, and has hardly any rights before', async (t) => {
  await withPerson(async (api, anna) => {
    await anna.enroll();
    const first = anna.token;
    const { data } = await api.tryLogin('anna');
    t.match(data, {
      isMfaRequired: true,
      isMfaComplete: false,
      authQueries: [
        {
          typeId: 'MFA',
          provider: 'ziti',
          httpMethod: 'POST',
          httpUrl: './authenticate/mfa',
          minLength: 4,
          maxLength: 6,
        },
      ],
    });
    anna.token = data.token;
    for (const path of ['/services', '/sessions', '/current-identity/authenticators', RECOVERY])
      t.match(await anna.ask('GET', path), NOT_ALLOWED, path);
    t.match(await anna.ask('DELETE', MFA, anna.code()), NOT_ALLOWED, 'not even with a code');
    t.match(await anna.ask('POST', RECOVERY, anna.code()), NOT_ALLOWED);
    for (const path of ['/current-api-session', MFA]) t.equal((await anna.ask('GET', path)).status, 200, path);
    t.notOk((await anna.ask('GET', MFA)).data.provisioningUrl, 'nor does it get the secret');

    for (const code of [anna.wrongCode(), '', '1']) t.match(await anna.give(code), WRONG_CODE, `'${code}'`);
    t.match(await anna.ask('GET', '/services'), NOT_ALLOWED);
    t.match(await anna.give(await anna.nextCode()), { status: 200, data: {} });
    t.equal((await anna.ask('GET', '/services')).status, 200);
    t.match((await anna.ask('GET', '/current-api-session')).data, {
      isMfaRequired: true,
      isMfaComplete: true,
      authQueries: [],
    });
    t.match((await api.tryLogin('anna')).data, { isMfaComplete: false }, 'the next session lacks it again');
    anna.token = first;
    t.equal((await anna.ask('GET', '/services')).status, 200, 'older sessions continue');
  });
});

t.test(
  'if the auth policy requires a second factor, a session without one may enroll, and is then complete',
  async (t) => {
    await withPerson(async (api, anna, id) => {
      const authPolicyId = await api.authPolicy('two', { secondary: { requireTotp: true } });
      await api.manage('PATCH', `/identities/${id}`, { authPolicyId });
      await anna.login();
      t.match((await anna.ask('GET', '/current-api-session')).data, {
        isMfaRequired: true,
        isMfaComplete: false,
        authQueries: [{ typeId: 'MFA' }],
      });
      t.match(await anna.ask('GET', '/services'), NOT_ALLOWED);
      t.match(await anna.give('123456'), { status: 409, code: 'MFA_NOT_ENROLLED' });
      await anna.begin();
      t.equal((await anna.ask('GET', `${MFA}/qr-code`)).status, 200);
      t.match(await anna.ask('GET', '/services'), NOT_ALLOWED);
      await anna.ask('POST', `${MFA}/verify`, anna.code());
      t.equal((await anna.ask('GET', '/services')).status, 200);
      t.match(await anna.ask('POST', `${MFA}/verify`, anna.code()), { status: 404 }, 'once');
    });
  },
);

t.test('an unverified second factor completes a session', async (t) => {
  await withPerson(async (api, anna, id) => {
    const authPolicyId = await api.authPolicy('two', { secondary: { requireTotp: true } });
    await api.manage('PATCH', `/identities/${id}`, { authPolicyId });
    await anna.login();
    await anna.begin();
    t.match(await anna.give('123456'), { status: 400, code: 'MFA_INVALID_TOKEN' });
    t.equal((await anna.give(anna.code())).status, 200);
    t.equal((await anna.ask('GET', '/services')).status, 200);
    t.match((await anna.ask('GET', MFA)).data, { isVerified: false });
  });
});

t.test('a code is accepted once, up to two time steps early or late', async (t) => {
  await withPerson(async (api, anna) => {
    await anna.enroll();
    // Inside a time step, far from used ones.
    const moveOn = () => api.clock.advance(6 * STEP - (api.clock.now() % STEP) + 10 * SECOND);
    await moveOn();
    for (const [steps, expected] of [
      [0, 200],
      [-1, 200],
      [1, 200],
      [-2, 200],
      [2, 200],
      [-3, 400],
      [3, 400],
    ] as const) {
      await anna.login();
      t.equal((await anna.give(anna.code(steps))).status, expected, `${steps} steps`);
      t.match(await anna.give(anna.code(steps)), WRONG_CODE, `${steps} steps, once more`);
    }
    await moveOn();
    const code = anna.code();
    await api.clock.advance(2 * STEP + 20 * SECOND - 1);
    await anna.login();
    t.equal((await anna.give(code)).status, 200, 'until the last millisecond');
    await moveOn();
    const late = anna.code();
    await api.clock.advance(2 * STEP + 20 * SECOND);
    t.match(await anna.give(late), WRONG_CODE);
  });
});

t.test('recovery codes are readable with a code of the app, and each is valid once', async (t) => {
  await withPerson(async (api, anna) => {
    await anna.enroll();
    const [first = '', second = '', third = ''] = anna.recoveryCodes;
    for (const code of ['', anna.wrongCode(), first])
      t.match(await anna.ask('GET', RECOVERY, code), WRONG_CODE, `'${code}'`);
    const answer = await anna.ask('GET', RECOVERY, await anna.nextCode());
    t.same(answer.data.recoveryCodes, anna.recoveryCodes);
    const inBody = { token: anna.token, body: { code: await anna.nextCode() } };
    t.same((await api.ask('GET', RECOVERY, inBody)).data.recoveryCodes, anna.recoveryCodes, 'the code is in the body');
    t.match(await api.ask('GET', RECOVERY, { ...inBody, body: '{"code":' }), WRONG_CODE);

    await anna.login();
    t.match(await anna.give(first.toLowerCase()), WRONG_CODE);
    t.match(await anna.give(first), { status: 200 });
    t.same(
      (await anna.ask('GET', RECOVERY, await anna.nextCode())).data.recoveryCodes,
      anna.recoveryCodes.slice(1),
      'it was used',
    );
    await anna.login();
    t.match(await anna.give(first), WRONG_CODE, 'used');
    const tokens = await Promise.all(Array.from({ length: 5 }, () => api.login('anna')));
    const give = (token: string) => api.ask('POST', '/authenticate/mfa', { token, body: { code: second } });
    const statuses = (await Promise.all(tokens.map(give))).map(({ status }) => status);
    t.same(statuses.sort(), [200, 400, 400, 400, 400], 'one of several concurrent ones succeeds');

    await anna.give(await anna.nextCode());
    for (const code of ['', anna.wrongCode(), third])
      t.match(await anna.ask('POST', RECOVERY, code), WRONG_CODE, `'${code}'`);
    t.match(await anna.ask('POST', RECOVERY, await anna.nextCode()), { status: 200, data: {} });
    const { recoveryCodes } = (await anna.ask('GET', RECOVERY, await anna.nextCode())).data;
    t.equal(recoveryCodes.length, 20);
    t.notOk(recoveryCodes.some((code: string) => anna.recoveryCodes.includes(code)));
    await anna.login();
    t.match(await anna.give(third), WRONG_CODE, 'old codes are invalid');
    t.match(await anna.give(recoveryCodes[0]), { status: 200 });
    t.match(
      await anna.ask('DELETE', MFA, recoveryCodes[1]),
      { status: 200 },
      'a user without the app removes it with a recovery code',
    );
  });
});

t.test('a removed second factor no longer satisfies posture checks', async (t) => {
  await withPerson(async (api, anna, id) => {
    await api.create('/posture-checks', { name: 'mfa', typeId: 'MFA', roleAttributes: ['mfa'] });
    await api.create('/services', { name: 'service', encryptionRequired: false, roleAttributes: ['all'] });
    const roles = { semantic: 'AnyOf', identityRoles: ['#all'], serviceRoles: ['#all'], postureCheckRoles: ['#mfa'] };
    await api.create('/service-policies', { name: 'dial', type: 'Dial', ...roles });
    const isPassing = async () => (await anna.ask('GET', '/services')).data[0].postureQueries[0].isPassing;
    t.equal(await isPassing(), false);
    await anna.enroll();
    t.equal(await isPassing(), true);
    await anna.ask('DELETE', MFA, await anna.nextCode());
    t.equal(await isPassing(), false);
    await anna.enroll();
    await api.manage('DELETE', `/identities/${id}/mfa`);
    t.equal(await isPassing(), false);
  });
});

t.test('an OIDC login never applies the second factor of one user to another', async (t) => {
  await withPerson(async (api, anna) => {
    await anna.enroll();
    await api.person('berta');
    const berta = new Person(api, 'berta');
    await berta.login();
    await berta.enroll();
    const parameters = new URLSearchParams({
      client_id: 'native',
      response_type: 'code',
      scope: 'openid',
      redirect_uri: 'http://localhost:1/callback',
      code_challenge: createHash('sha256').update(VERIFIER).digest('base64url'),
      code_challenge_method: 'S256',
    });
    const form = (path: string, fields: Record<string, string>) =>
      api.ask('POST', `/oidc${path}`, {
        body: new URLSearchParams(fields).toString(),
        type: 'application/x-www-form-urlencoded',
      });
    const begun = await api.ask('GET', `/oidc/authorize?${parameters}`);
    const id = new URL(String(begun.headers.location), 'https://x').searchParams.get('authRequestID') ?? '';
    const logIn = (name: string) => form('/login/password', { id, username: name, password: PASSWORD });
    const codeOf = async () => {
      const { headers } = await api.ask('GET', `/oidc/authorize/callback?id=${id}`);
      return new URL(String(headers.location)).searchParams.get('code');
    };

    t.equal((await logIn('anna')).headers['totp-required'], 'true');
    t.equal((await form('/login/totp', { id, code: await anna.nextCode() })).status, 302);
    t.equal((await logIn('anna')).status, 302, 'the same user remains proven');
    const code = await codeOf();
    t.type(code, 'string');
    t.equal((await logIn('berta')).headers['totp-required'], 'true', 'another user needs their own');
    t.equal(await codeOf(), null);
    const exchanged = await form('/oauth/token', {
      grant_type: 'authorization_code',
      client_id: 'native',
      code: code ?? '',
      redirect_uri: 'http://localhost:1/callback',
      code_verifier: VERIFIER,
    });
    t.match(exchanged, { status: 400, text: /invalid_grant/ }, 'nor is the code of the first one valid for the second');
  });
});

t.test('guesses of codes are limited to ten per minute, across sessions', async (t) => {
  await using api = await ApiClient.start();
  await api.person('anna');
  const anna = new Person(api, 'anna');
  await anna.login();
  await anna.enroll();
  await anna.login();
  const wrong = anna.wrongCode();
  const guesses = await Promise.all(Array.from({ length: 15 }, () => anna.give(wrong)));
  const count = (status: number) => guesses.filter((each) => each.status === status).length;
  t.same([count(400), count(429)], [10, 5], 'concurrent guesses count, too');
  const waits = { status: 429, code: 'RATE_LIMITED' };
  t.match(await anna.give(anna.code()), waits, 'even the correct one');
  await anna.login();
  t.match(await anna.give(wrong), waits, 'in another session');
  await api.clock.advance(60 * SECOND);
  t.match(await anna.give(anna.code()), { status: 200 });
  for (let each = 0; each < 9; each++) t.match(await anna.give(wrong), WRONG_CODE);
  t.match(await anna.give(await anna.nextCode()), { status: 200 }, 'a correct one is accepted again');
  t.match(await anna.give(wrong), WRONG_CODE);
});
