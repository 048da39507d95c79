// Credentials are never disclosed: in logs, in events, in the journal, or in the answers to rejected requests.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Secret, TOTP } from 'otpauth';
import t from 'tap';
import { createLog } from '#lib/log/log.ts';
import { ApiClient } from '../support/clients/api-client.ts';
import { Overlay } from '../support/networks/overlay.ts';

const MANAGEMENT = '/edge/management/v1';
const FUTURE = '2099-01-01T00:00:00Z';
const PASSWORDS = ['s3cr-first', 's3cr-second', 's3cr-wrong', 's3cr-short'] as const;

t.test('passwords, keys and tokens never appear in logs, events, the journal or error answers', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
  const eventsFile = join(directory, 'events.jsonl');
  let logged = '';
  const log = createLog({
    level: 'debug',
    write: (line) => {
      logged += line;
    },
  });
  const overlay = await Overlay.start({ log, eventsFile });
  const received: unknown[] = [];
  overlay.simulator.events.subscribe((event) => received.push(event));
  await using api = new ApiClient(overlay.simulator);
  api.token = overlay.management.sessionToken;
  const secrets = new Map<string, string>([['session of the administrator', api.token]]);
  for (const password of PASSWORDS) secrets.set(password, password);

  const host = await overlay.addRouter({ name: 'host', mode: 'host' });
  const key = readFileSync(join(overlay.directory, 'host.key'), 'utf8');
  secrets.set('key of a router', key.split('\n')[1] ?? '');
  const service = await overlay.addService('echo', host.id);
  await overlay.ready();
  await api.create('/edge-router-policies', {
    name: 'all',
    semantic: 'AnyOf',
    identityRoles: ['#all'],
    edgeRouterRoles: ['#all'],
  });

  const identityId = await api.create('/identities', {
    name: 'user',
    type: 'User',
    isAdmin: false,
    enrollment: { ott: true },
  });
  const enrollment = await api.create('/enrollments', {
    identityId,
    method: 'updb',
    username: 'user',
    expiresAt: FUTURE,
  });
  const open = await api.get<{ token: string; jwt: string }>(`/enrollments/${enrollment}`);
  secrets.set('enrollment token', open.token).set('enrollment JWT', open.jwt);
  const [first] = PASSWORDS;
  await api.ask('POST', `/enroll/updb?token=${open.token}`, { body: { username: 'user', password: first } });
  const token = await api.login('user', first);
  secrets.set('session of a client', token);
  await api.create('/current-identity/mfa', {}, token);
  const mfa = await api.get('/current-identity/mfa', token);
  const secret = new URL(mfa.provisioningUrl).searchParams.get('secret') ?? '';
  secrets.set('secret of one-time passwords', secret).set('recovery code', mfa.recoveryCodes[0]);
  const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate();
  await api.change('POST', '/current-identity/mfa/verify', { code }, token);
  const session = await api.ask('POST', '/sessions', { token, body: { serviceId: service, type: 'Dial' } });
  secrets.set('session of a service', session.data.token);
  const [own] = await api.get('/current-identity/authenticators', token);

  const at = `${MANAGEMENT}/authenticators/${own.id}`;
  const rejections: [what: string, method: string, path: string, body?: unknown, token?: string][] = [
    ['a wrong password', 'POST', '/authenticate?method=password', { username: 'user', password: PASSWORDS[2] }],
    [
      'a password of the wrong type',
      'POST',
      '/authenticate?method=password',
      { username: 'user', password: [PASSWORDS[2]] },
    ],
    ['a name that is too short', 'PUT', at, { username: 'u', password: PASSWORDS[1] }, api.token],
    ['a password that is too long', 'PUT', at, { username: 'user', password: PASSWORDS[3].repeat(20) }, api.token],
    [
      'a wrong current password',
      'PATCH',
      `/current-identity/authenticators/${own.id}`,
      { currentPassword: PASSWORDS[2], password: PASSWORDS[1] },
      token,
    ],
    ['a used token', 'POST', `/enroll/updb?token=${open.token}`, { username: 'user', password: PASSWORDS[1] }],
    ['a used token with another method', 'POST', `/enroll?method=ott&token=${open.token}`, {}],
    [
      'a recovery code where it is not accepted',
      'POST',
      '/current-identity/mfa/recovery-codes',
      { code: mfa.recoveryCodes[0] },
      token,
    ],
    [
      'a key for a certificate',
      'POST',
      `${MANAGEMENT}/authenticators`,
      { identityId, method: 'cert', certPem: key },
      api.token,
    ],
    [
      'a key for an authority',
      'POST',
      `${MANAGEMENT}/cas`,
      {
        name: 'x',
        certPem: key,
        identityRoles: [],
        isAuthEnabled: true,
        isAutoCaEnrollmentEnabled: true,
        isOttCaEnrollmentEnabled: true,
      },
      api.token,
    ],
    [
      'a key for a signer',
      'POST',
      `${MANAGEMENT}/external-jwt-signers`,
      { name: 'x', issuer: 'x', audience: 'x', enabled: true, certPem: key },
      api.token,
    ],
    ['a session without permission', 'GET', `${MANAGEMENT}/identities`, undefined, token],
    ['a session as a path', 'GET', `${MANAGEMENT}/sessions/${encodeURIComponent(token)}`, undefined, token],
    ['an invented session', 'GET', `${MANAGEMENT}/identities`, undefined, `${token}x`],
  ];
  let answers = '';
  for (const [what, method, path, body, by] of rejections) {
    const answer = await api.ask(method, path, { body, token: by });
    t.ok(answer.status >= 400 && answer.status < 500, `${what}: ${answer.status}`);
    answers += `${what}: ${answer.text}\n`;
  }
  for (const broken of [
    `{"username":"user","password":"${PASSWORDS[2]}",}`,
    `{"password":${PASSWORDS[2]}}`,
    `{"password":"${PASSWORDS[2]}`,
  ]) {
    const answer = await api.ask('POST', '/authenticate?method=password', { body: broken });
    t.match(answer, { status: 400, code: 'COULD_NOT_PARSE_BODY' });
    answers += `${answer.text}\n`;
  }
  await api.change('PUT', at, { username: 'user', password: PASSWORDS[1] });
  await api.change('DELETE', '/current-api-session', undefined, token);
  await api.change('DELETE', `/identities/${identityId}`);
  const journal = JSON.stringify(overlay.simulator.lab.journal.entries());
  await overlay.close();

  const events = readFileSync(eventsFile, 'utf8');
  t.ok(journal.length > 10_000);
  t.ok(logged.length > 1_000 && events.length > 1_000 && received.length > 20, 'the test produced output');
  for (const [what, text] of secrets) {
    t.ok(text.length >= 6, what);
    for (const [where, all] of Object.entries({
      log: logged,
      events,
      'events in the process': JSON.stringify(received),
      answers,
      journal,
    }))
      t.notOk(all.includes(text), `${what} is not in the ${where}: ${lineWith(all, text)}`);
  }
  for (const mark of ['$argon2', 'PRIVATE KEY'])
    for (const all of [logged, events, answers, journal])
      t.notOk(all.includes(mark), `${mark}: ${lineWith(all, mark)}`);
  rmSync(directory, { recursive: true });
});

function lineWith(all: string, text: string): string {
  return (
    all
      .split('\n')
      .find((line) => line.includes(text))
      ?.slice(0, 400) ?? ''
  );
}
