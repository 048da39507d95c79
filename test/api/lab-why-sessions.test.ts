// The lab explains logins, sessions and posture, over the API and as methods.

import t from 'tap';
import { ApiClient } from '../support/clients/api-client.ts';
import { PostureClient } from '../support/clients/posture-client.ts';

interface Explanation {
  readonly ok: boolean;
  readonly summary: string;
  readonly reasons: readonly { readonly blocking?: boolean; readonly message: string; readonly remedy?: string }[];
}

async function explain(api: ApiClient, path: string, question: object): Promise<Explanation> {
  const { status, text, data } = await api.manage('POST', `/lab/v1/why/${path}`, question);
  if (status !== 200) throw new Error(text);
  return data;
}

/** The messages of the reasons that block. */
function blocking({ reasons }: Explanation): string[] {
  return reasons.filter((reason) => reason.blocking).map(({ message }) => message);
}

t.test('a login: not enrolled, enrolled, disabled', async (t) => {
  await using api = await ApiClient.start();
  const id = await api.create('/identities', { name: 'anna', type: 'User', isAdmin: false });
  const none = await explain(api, 'login', { identity: 'anna' });
  t.match([none.ok, none.summary, blocking(none)], [false, 'anna cannot log in', ['anna has not enrolled']]);
  await api.person('berta');
  await api.tryLogin('berta');
  t.match(await explain(api, 'login', { identity: 'berta' }), {
    ok: true,
    summary: 'berta can log in',
    reasons: [{ message: 'berta can log in with the password of berta' }, { message: 'berta has 1 open API session' }],
  });
  await api.manage('POST', `/identities/${id}/disable`, { durationMinutes: 0 });
  t.same(api.simulator.lab.whyLogin(id).reasons[0]?.message, 'anna is disabled');
  t.throws(() => api.simulator.lab.whyLogin('bertha'), { message: 'there is no identity bertha; did you mean berta?' });
});

t.test('a session: valid with its end, then ended, with the reason', async (t) => {
  await using api = await ApiClient.start();
  const people = ['anna', 'berta', 'carla', 'dora'];
  const ids = new Map<string, string>();
  const sessions = new Map<string, { readonly id: string; readonly token: string }>();
  for (const name of people) {
    ids.set(name, await api.person(name));
    const { data } = await api.tryLogin(name);
    sessions.set(name, { id: data.id, token: data.token });
  }
  const ask = (name: string) => explain(api, 'session', { session: sessions.get(name)?.id });
  const open = await ask('anna');
  t.equal(open.ok, true);
  t.match(open.summary, /^the session \S+ is valid$/);
  t.match(open.reasons, [
    { message: 'it belongs to anna, which is enabled' },
    { message: /^it was used last at \S+Z; without a request it ends at \S+Z, after 30m0s$/ },
  ]);
  const [used = 0, end = 0] = Array.from(open.reasons[1]?.message.matchAll(/\S+Z/g) ?? [], ([time]) =>
    Date.parse(time),
  );
  t.equal(end - used, 30 * 60_000);
  await api.ask('DELETE', '/current-api-session', { token: sessions.get('anna')?.token });
  t.match(blocking(await ask('anna')), [/^it ended at \S+Z, because its identity logged out, or deleted it$/]);
  await api.change('DELETE', `/identities/${ids.get('berta')}`);
  t.match(blocking(await ask('berta')), [/because its identity was deleted$/]);
  await api.change('DELETE', `/api-sessions/${sessions.get('carla')?.id}`);
  t.match(blocking(await ask('carla')), [/because it was deleted by /]);
  await api.simulator.lab.clock.advance('31m');
  t.match(blocking(await ask('dora')), [/because it was not used for longer than the session timeout/]);
  t.match(blocking(api.simulator.lab.whySession('nothing')), [/^no stored session has this id, and no ended one/]);
});

t.test('a session that expired, before the simulator removes it; a session without its second factor', async (t) => {
  await using api = await ApiClient.start({ sessionLifetime: 5_000 });
  await api.person('anna');
  const { data } = await api.tryLogin('anna');
  await api.clock.advance(6_000);
  t.match(blocking(api.simulator.lab.whySession(data.id)), [/^it was used last at \S+Z, longer ago than .* of 5s$/]);
  const twice = await api.authPolicy('twice', { secondary: { requireTotp: true } });
  await api.person('berta', { authPolicyId: twice });
  const half = await api.tryLogin('berta');
  t.match(blocking(api.simulator.lab.whySession(half.data.id)), [/lacks its second factor$/]);
});

t.test('posture: failing checks in each session, until one passes', async (t) => {
  await using client = await PostureClient.start(['#check']);
  const { api } = client;
  t.match(await explain(api, 'posture', { identity: 'user' }), {
    ok: true,
    summary: 'user passes its posture checks',
    reasons: [{ message: 'no service policy of user demands posture checks' }],
  });
  const os = await api.create('/posture-checks', {
    name: 'linux',
    typeId: 'OS',
    roleAttributes: ['check'],
    operatingSystems: [{ type: 'Linux', versions: ['>=6.0.0'] }],
  });
  const failing = await explain(api, 'posture', { identity: 'user' });
  t.equal(failing.summary, 'user does not pass its posture checks');
  t.match(blocking(failing), [/^linux \(OS\) of dial fails in the session \S+: no operating system is reported$/]);
  const other = await api.tryLogin('user');
  await client.ask('POST', '/posture-response', { id: os, typeId: 'OS', type: 'Linux', version: '6.4.0', build: '1' });
  const passing = await explain(api, 'posture', { identity: 'user', session: other.data.id });
  t.match([passing.ok, passing.reasons.length], [true, 1], 'the machine reports for all sessions');
  const unknown = await api.manage('POST', '/lab/v1/why/posture', { identity: 'user', session: 'x' });
  t.match([unknown.status, unknown.text], [404, /user has no session x/]);
});

t.test('wrong questions are rejected', async (t) => {
  await using api = await ApiClient.start();
  await api.create('/edge-routers', { name: 'edge' });
  const table: readonly [path: string, question: object, status: number, text: RegExp][] = [
    ['login', {}, 400, /identity in body is required/],
    ['session', { session: 5 }, 400, /session must be of type string/],
    ['link', { router: 'edge', other: 'egde' }, 404, /there is no router egde; did you mean edge\?/],
    ['link', { router: 'edge', other: 'edge' }, 400, /a link joins two different routers/],
  ];
  for (const [path, question, status, text] of table) {
    const answer = await api.manage('POST', `/lab/v1/why/${path}`, question);
    t.match([answer.status, answer.text], [status, text]);
    t.equal((await api.ask('POST', `/lab/v1/why/${path}`, { body: question })).status, 401);
  }
});
