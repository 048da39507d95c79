// What proves somebody's identity is told to nobody else: not in a log, not in an event, not in the answer to a request that is refused.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Secret, TOTP } from 'otpauth';
import t from 'tap';
import { createLog } from '#lib/log.ts';
import { ApiCaller } from './support/api-caller.ts';
import { Overlay } from './support/overlay.ts';

const CLIENT = '/edge/client/v1';
const FUTURE = '2099-01-01T00:00:00Z';
const PASSWORDS = ['s3cr-first', 's3cr-second', 's3cr-wrong', 's3cr-short'] as const;

t.test('passwords, keys and tokens stand in no log, no event and no refusal while everything happens', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
  const eventsFile = join(directory, 'events.jsonl');
  let told = '';
  const log = createLog({
    level: 'debug',
    write: (line) => {
      told += line;
    },
  });
  const overlay = await Overlay.start({ log, eventsFile });
  const heard: unknown[] = [];
  overlay.simulator.events.subscribe((event) => heard.push(event));
  const api = ApiCaller.of(overlay.simulator, overlay.management.token);
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
  await api.change('POST', `${CLIENT}/enroll/updb?token=${open.token}`, { username: 'user', password: first }, '');
  const token = await api.login('user', first);
  secrets.set('session of a client', token);
  await api.create(`${CLIENT}/current-identity/mfa`, {}, token);
  const mfa = await api.get<{ provisioningUrl: string; recoveryCodes: string[] }>(
    `${CLIENT}/current-identity/mfa`,
    token,
  );
  const secret = new URL(mfa.provisioningUrl).searchParams.get('secret') ?? '';
  secrets.set('secret of one-time passwords', secret).set('recovery code', mfa.recoveryCodes[0] ?? '');
  const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate();
  await api.change('POST', `${CLIENT}/current-identity/mfa/verify`, { code }, token);
  const session = await api.ask('POST', `${CLIENT}/sessions`, { serviceId: service, type: 'Dial' }, token);
  secrets.set('session of a service', (session.data as { token: string }).token);
  const [own] = await api.get<{ id: string }[]>(`${CLIENT}/current-identity/authenticators`, token);

  const at = `/authenticators/${own?.id}`;
  const refusals: [what: string, method: string, path: string, body: unknown, token: string][] = [
    [
      'a wrong password',
      'POST',
      `${CLIENT}/authenticate?method=password`,
      { username: 'user', password: PASSWORDS[2] },
      '',
    ],
    [
      'a password of the wrong type',
      'POST',
      `${CLIENT}/authenticate?method=password`,
      { username: 'user', password: [PASSWORDS[2]] },
      '',
    ],
    ['a name that is too short', 'PUT', at, { username: 'u', password: PASSWORDS[1] }, api.token],
    ['a password that is too long', 'PUT', at, { username: 'user', password: PASSWORDS[3].repeat(20) }, api.token],
    [
      'a wrong current password',
      'PATCH',
      `${CLIENT}/current-identity/authenticators/${own?.id}`,
      { currentPassword: PASSWORDS[2], password: PASSWORDS[1] },
      token,
    ],
    [
      'a token that was used',
      'POST',
      `${CLIENT}/enroll/updb?token=${open.token}`,
      { username: 'user', password: PASSWORDS[1] },
      '',
    ],
    ['a token that was used for something else', 'POST', `${CLIENT}/enroll?method=ott&token=${open.token}`, {}, ''],
    [
      'a recovery code where it does not count',
      'POST',
      `${CLIENT}/current-identity/mfa/recovery-codes`,
      { code: mfa.recoveryCodes[0] },
      token,
    ],
    ['a key for a certificate', 'POST', '/authenticators', { identityId, method: 'cert', certPem: key }, api.token],
    [
      'a key for an authority',
      'POST',
      '/cas',
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
      '/external-jwt-signers',
      { name: 'x', issuer: 'x', audience: 'x', enabled: true, certPem: key },
      api.token,
    ],
    ['a session that may not', 'GET', '/identities', undefined, token],
    ['a session as a path', 'GET', `/sessions/${encodeURIComponent(token)}`, undefined, token],
    ['a made up session', 'GET', '/identities', undefined, `${token}x`],
  ];
  let answers = '';
  for (const [what, method, path, body, by] of refusals) {
    const answer = await api.ask(method, path, body, by);
    t.ok(answer.status >= 400 && answer.status < 500, `${what}: ${answer.status}`);
    answers += `${what}: ${answer.text}\n`;
  }
  for (const broken of [
    `{"username":"user","password":"${PASSWORDS[2]}",}`,
    `{"password":${PASSWORDS[2]}}`,
    `{"password":"${PASSWORDS[2]}`,
  ]) {
    const answer = await api.askRaw('POST', `${CLIENT}/authenticate?method=password`, broken);
    t.match(answer, { status: 400, code: 'COULD_NOT_PARSE_BODY' });
    answers += `${answer.text}\n`;
  }
  await api.change('PUT', at, { username: 'user', password: PASSWORDS[1] });
  await api.change('DELETE', `${CLIENT}/current-api-session`, undefined, token);
  await api.change('DELETE', `/identities/${identityId}`);
  await overlay.close();

  const events = readFileSync(eventsFile, 'utf8');
  t.ok(told.length > 1_000 && events.length > 1_000 && heard.length > 20, 'there was something to look at');
  for (const [what, text] of secrets) {
    t.ok(text.length >= 6, what);
    for (const [where, all] of Object.entries({
      log: told,
      events,
      'events in the process': JSON.stringify(heard),
      answers,
    }))
      t.notOk(all.includes(text), `${what} is not in the ${where}: ${lineWith(all, text)}`);
  }
  for (const mark of ['$argon2', 'PRIVATE KEY'])
    for (const all of [told, events, answers]) t.notOk(all.includes(mark), `${mark}: ${lineWith(all, mark)}`);
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
