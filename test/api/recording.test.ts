// Recordings: a client works with a recorder in front of a simulator, and then with the replay alone.

import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { Agent, request } from 'undici';
import { startSimulator } from '../../controller-sim/assembly/simulator.ts';
import { TEST_COST } from '../../controller-sim/auth/passwords.ts';
import { keyOf, StandIns } from '../../controller-sim/lab/journal/recording.ts';
import type { IdentityFile } from '../../controller-sim/lab/network/identities.ts';
import { startRecorder, startReplay } from '../../entry/sim.ts';
import { Program } from '../../examples/two-routers/process.ts';
import { ApiClient, PASSWORD } from '../support/clients/api-client.ts';
import { growth, MAX_GROWTH } from '../support/hostile/call-counter.ts';

interface Server {
  readonly url: string;
  readonly ca: string;
}

/** A client logs in, creates a service, looks for it, deletes it, and looks for it again. */
async function session({ url, ca }: Server): Promise<unknown[]> {
  const agent = new Agent({ connect: { ca } });
  let token = '';
  const ask = async (method: 'GET' | 'POST' | 'DELETE', path: string, body?: object) => {
    const answer = await request(`${url}/edge/management/v1${path}`, {
      method,
      dispatcher: agent,
      headers: { 'content-type': 'application/json', ...(token !== '' && { 'zt-session': token }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    const { data, error } = (await answer.body.json()) as { data?: Record<string, unknown>; error?: { code: string } };
    return { status: answer.statusCode, data, code: error?.code };
  };
  try {
    const login = await ask('POST', '/authenticate?method=password', { username: 'admin', password: PASSWORD });
    token = String(login.data?.token);
    const created = await ask('POST', '/services', { name: 'web', encryptionRequired: true });
    const path = `/services/${created.data?.id}`;
    const before = await ask('GET', path);
    const deleted = await ask('DELETE', path);
    const after = await ask('GET', path);
    return [login.status, created.status, before.status, before.data?.name, deleted.status, after.status, after.code];
  } finally {
    await agent.close();
  }
}

t.test('a session is recorded without its secrets, and replayed without the controller', async (t) => {
  const file = join(t.testdir(), 'web.jsonl');
  const simulator = await startSimulator({ password: PASSWORD, passwordCost: TEST_COST });
  const recorder = await startRecorder({ url: simulator.baseUrl, ca: simulator.ca, output: file });
  const live = await session(recorder);
  t.same(live, [200, 201, 200, 'web', 200, 404, 'NOT_FOUND']);
  t.equal(recorder.count, 5);
  await recorder.close();
  await simulator.close();
  const text = readFileSync(file, 'utf8');
  t.notMatch(text, PASSWORD);
  t.match(text, /"token":"recorded-\d+"|\\"token\\":\\"recorded-\d+\\"/);
  const replay = await startReplay({ file });
  t.teardown(() => replay.close());
  t.same(await session(replay), live, 'the second GET of the same path has the second answer');
  t.equal(replay.answered, 5);
  t.same(replay.unexpected, []);
});

t.test('a client with a certificate is recorded: the recorder logs in as an identity that it is given', async (t) => {
  const directory = t.testdir();
  const [output, identity] = [join(directory, 'anna.jsonl'), join(directory, 'anna.json')];
  const simulator = await startSimulator({ passwordCost: TEST_COST });
  writeFileSync(identity, JSON.stringify(await simulator.lab.identity('anna')));
  /** As SDKs do it: with the file of an identity, which names address, authority and certificate. */
  const login = async ({ ztAPI, id }: IdentityFile) => {
    const [cert, key, ca] = [id.cert, id.key, id.ca].map((text) => text.replace(/^pem:/, '')) as [
      string,
      string,
      string,
    ];
    const agent = new Agent({ connect: { cert, key, ca } });
    const headers = { 'content-type': 'application/json' };
    const sent = { method: 'POST', dispatcher: agent, headers, body: '{}' } as const;
    const { statusCode, body } = await request(`${ztAPI}/authenticate?method=cert`, sent);
    const { data } = (await body.json()) as { data?: { identity: { name: string } } };
    await agent.close();
    return [statusCode, data?.identity.name];
  };
  let recorded: IdentityFile | undefined;
  {
    await using recorder = await startRecorder({ url: simulator.baseUrl, ca: simulator.ca, output, identity });
    recorded = recorder.identity as IdentityFile;
    t.same(await login(recorded), [200, 'anna']);
    t.match(recorded.id.ca, recorder.ca.trim());
    t.match(
      recorded.id.ca,
      simulator.ca.trim(),
      'routers, which the SDK dials itself, have certificates of the network',
    );
  }
  await simulator.close();
  t.notMatch(readFileSync(output, 'utf8'), 'PRIVATE KEY');
  await using replay = await startReplay({ file: output });
  const api = `${replay.url}/edge/client/v1`;
  t.same(await login({ ...recorded, ztAPI: api, id: { ...recorded.id, ca: `pem:${replay.ca}` } }), [200, 'anna']);
  writeFileSync(identity, '{}');
  await t.rejects(
    startRecorder({ url: simulator.baseUrl, ca: simulator.ca, output, identity }),
    /anna\.json is not the file of an enrolled identity/,
  );
});

t.test(
  'a login of the OIDC API passes the recorder and the replay: its answers keep the header with its id',
  async (t) => {
    const output = join(t.testdir(), 'oidc.jsonl');
    const simulator = await startSimulator({ password: PASSWORD, passwordCost: TEST_COST });
    const ids: string[] = [];
    const login = async ({ url, ca }: Server) => {
      const agent = new Agent({ connect: { ca } });
      const callback = 'redirect_uri=http%3A%2F%2Flocalhost%3A8080%2Fauth%2Fcallback';
      const challenge = 'code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256';
      const state = randomUUID();
      const query = `client_id=openziti&response_type=code&scope=openid&${callback}&${challenge}&state=${state}`;
      const begun = await request(`${url}/oidc/authorize?${query}`, { dispatcher: agent });
      await begun.body.dump();
      const place = String(begun.headers.location);
      const form = await request(place.startsWith('/') ? `${url}${place}` : place, { dispatcher: agent });
      await form.body.dump();
      const id = String(form.headers['auth-request-id'] ?? begun.headers['auth-request-id']);
      const answer = await request(`${url}/oidc/login/password`, {
        method: 'POST',
        dispatcher: agent,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({ id, username: 'admin', password: PASSWORD }).toString(),
      });
      await answer.body.dump();
      const back = await request(new URL(String(answer.headers.location), url), { dispatcher: agent });
      await back.body.dump();
      await agent.close();
      ids.push(id);
      const { searchParams } = new URL(String(back.headers.location));
      return [begun.statusCode, id.length > 5, answer.statusCode, searchParams.get('state') === state];
    };
    {
      await using recorder = await startRecorder({ url: simulator.baseUrl, ca: simulator.ca, output });
      t.same(await login(recorder), [302, true, 302, true]);
      const agent = new Agent({ connect: { ca: recorder.ca } });
      t.teardown(() => agent.close());
      const { headers, body } = await request(`${recorder.url}/version`, { dispatcher: agent });
      await body.dump();
      t.match(headers, { 'edgeweave-data-index': /\d/ }, 'a client gets all headers of an answer');
    }
    await simulator.close();
    t.notMatch(
      readFileSync(output, 'utf8'),
      String(ids[0]),
      'the id of a login is as secret in the header as in a query',
    );
    await using replay = await startReplay({ file: output });
    for (const _each of [1, 2])
      t.same(await login(replay), [302, true, 302, true], 'a redirect returns the state of the client');
  },
);

t.test('the journal of a simulator becomes a recording, too', async (t) => {
  const file = join(t.testdir(), 'journal.jsonl');
  const simulator = await startSimulator({ password: PASSWORD, passwordCost: TEST_COST });
  const live = await session({ url: simulator.baseUrl, ca: simulator.ca });
  const recording = simulator.lab.journal.recording();
  t.match(recording, { requests: 5, omitted: 0 });
  t.same(simulator.lab.journal.recording({ method: 'DELETE' }).requests, 1);
  await simulator.close();
  t.notMatch(recording.text, PASSWORD);
  writeFileSync(file, recording.text);
  const replay = await startReplay({ file });
  t.teardown(() => replay.close());
  t.same(await session(replay), live);
});

t.test('secrets in redirects, tokens and images have stand-ins, with calls that grow linearly', async (t) => {
  const standIns = new StandIns();
  const answer = (headers: Record<string, string>, body = '') => standIns.answer({ status: 200, headers, body });
  t.equal(
    answer({ location: 'https://app.example/back?state=1&access_token=secret#id_token=secret&x=1' }).headers.location,
    'https://app.example/back?state=recorded-1&access_token=recorded-2#id_token=recorded-2&x=recorded-1',
  );
  t.equal(answer({ location: '/edge/client/v1/version' }).headers.location, '/edge/client/v1/version');
  t.equal(answer({ 'content-type': 'application/jwt' }, 'eyJ.eyJ.x').body, 'recorded-3');
  t.equal(answer({ 'content-type': 'image/png' }, 'iVBORw0KGgo=').body, '');
  const form = (secrets: number) => {
    const body = Array.from({ length: secrets }, (_none, index) => `password=${index}`).join('&');
    return standIns.request({ method: 'POST', path: '/', query: '', body }).body;
  };
  t.match(form(1_000), /^password=recorded-4&password=recorded-1&password=recorded-5&/);
  const grown = await growth(form, 1_000);
  t.ok(grown < MAX_GROWTH, `${grown.toFixed(1)} times the calls for 4 times the secrets`);
});

t.test('only what can be parsed is recorded, and secrets have stand-ins wherever they are', async (t) => {
  const SECRET = 'hunter2';
  const TOKEN = `eyJhbGciOiJub25l.eyJzdWIiOiJ4In0.${SECRET}`;
  const KEY = `-----BEGIN EC PRIVATE KEY-----\n${SECRET}\n-----END EC PRIVATE KEY-----`;
  const request = { method: 'POST', path: '/lab/v1/seed', query: '', body: '' };
  const table: Record<string, Partial<typeof request>> = {
    'a seed in YAML': { body: `identities:\n- name: anna\n  password: ${SECRET}\n` },
    'broken JSON': { body: `{"password": "${SECRET}"` },
    'a text': { body: SECRET },
    'a JSON text': { body: `"${SECRET}"` },
    'a list of texts': { body: `["${SECRET}"]` },
    'the hash of a password': { body: `{"identities": [{"passwordHash": "${SECRET}"}]}` },
    'a list of secrets': { body: `{"recoveryCodes": ["${SECRET}"]}` },
    'a token in another field': { body: `{"note": "use ${TOKEN}"}` },
    'a request for a certificate': { body: `{"csr": "-----BEGIN CERTIFICATE REQUEST-----", "password": "${SECRET}"}` },
    'a private key in another field': { body: JSON.stringify({ note: KEY }) },
    'credentials in a URL': { body: `{"url": "https://anna:${SECRET}@example.com/"}` },
    'a form': { body: `grant_type=authorization_code&made_up=${SECRET}` },
    'the name of a field': { body: `${SECRET}5151=1` },
    'a token in an unknown path': { path: `/edge/client/v1/enroll/${SECRET}` },
    'a token in a known path': { path: `/edge/management/v1/identities/${TOKEN}` },
    'a query': { query: `token=${SECRET}` },
    'an unknown parameter': { query: `id=${SECRET}` },
  };
  for (const [what, part] of Object.entries(table)) {
    const recorded = new StandIns().request({ ...request, ...part });
    t.notMatch(JSON.stringify(recorded), SECRET, what);
    t.equal(keyOf(recorded), keyOf({ ...request, ...part }), `${what}: the replay finds it`);
  }
  const answer = (type: string, body: string, headers = {}) =>
    new StandIns().answer({ status: 200, headers: { 'content-type': type, ...headers }, body });
  for (const type of ['text/plain', 'application/yaml', 'application/json', 'text/html'])
    t.notMatch(answer(type, `password: ${SECRET}`).body, SECRET, type);
  t.notMatch(answer('', '', { location: `/edge/client/v1/enroll/${SECRET}?${SECRET}5151` }).headers.location, SECRET);
  t.match(new StandIns().answer({ status: 200, headers: {}, body: 'c2VjcmV0', isBase64: true }), { body: '' });
  const certificate = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n';
  t.equal(answer('application/x-pem-file', certificate).body, certificate, 'certificates are public');
  const harmless = {
    ...request,
    path: '/edge/management/v1/services/f2dd2df0-9c04-4b84-a91e-71437ac229f1',
    query: 'limit=5',
  };
  t.same(new StandIns().request({ ...harmless, body: '{"name":"web"}' }), { ...harmless, body: '{"name":"web"}' });
});

t.test('requests that were not recorded are rejected with the nearest one', async (t) => {
  const file = join(t.testdir(), 'few.jsonl');
  await using api = await ApiClient.start();
  const { baseUrl: upstream, ca } = api.simulator;
  const recorder = await startRecorder({ url: upstream, ca, output: file, withSecrets: true });
  const agent = new Agent({ connect: { ca: recorder.ca } });
  const parameters = new URLSearchParams({
    client_id: 'native',
    response_type: 'code',
    scope: 'openid',
    redirect_uri: 'http://localhost:8080/auth/callback',
    state: 's',
    code_challenge: 'a'.repeat(43),
    code_challenge_method: 'S256',
  });
  const redirected = await request(`${recorder.url}/oidc/authorize?${parameters}`, { dispatcher: agent });
  await redirected.body.dump();
  t.match([redirected.statusCode, redirected.headers.location], [302, /^\//], 'it does not lead past the recorder');
  const get = async (url: string, path: string, dispatcher: Agent) => {
    const answer = await request(`${url}${path}`, { dispatcher });
    return { status: answer.statusCode, text: await answer.body.text() };
  };
  await get(recorder.url, '/edge/client/v1/version?a=1&b=2', agent);
  await recorder.close();
  await agent.close();
  const replay = await startReplay({ file });
  t.teardown(() => replay.close());
  const other = new Agent({ connect: { ca: replay.ca } });
  t.teardown(() => other.close());
  t.equal((await get(replay.url, '/edge/client/v1/version?b=2&a=1', other)).status, 200, 'the order does not count');
  const query = await get(replay.url, '/edge/client/v1/version?a=2', other);
  t.match([query.status, query.text], [501, /was not recorded; the nearest is GET .*version with the query a=1&b=2/]);
  const path = await get(replay.url, '/edge/client/v1/versoin', other);
  t.match([path.status, path.text], [501, /the nearest is GET \/edge\/client\/v1\/version"/]);
  t.equal(replay.unexpected.length, 2);
});

t.test('files other than recordings, and places that cannot be used', async (t) => {
  const folder = t.testdir();
  const other = join(folder, 'other.jsonl');
  writeFileSync(other, '{"a": 1}\n');
  await t.rejects(startReplay({ file: other }), { message: /other\.jsonl is not a recording/ });
  writeFileSync(other, '{"format":"edgeweave-recording-1","upstream":"x"}\n{"request":{}}\n');
  await t.rejects(startReplay({ file: other }), { message: /other\.jsonl:2: request\.method is not a text/ });
  await t.rejects(startReplay({ file: join(folder, 'none') }), { message: /none does not exist/ });
  if (existsSync('/dev/full'))
    await t.rejects(startRecorder({ url: 'https://127.0.0.1:1', ca: 'no certificate', output: '/dev/full' }), {
      message: '/dev/full cannot be written: the disk is full; free space on the disk of /dev',
    });
  await t.rejects(startRecorder({ url: 'https://127.0.0.1:1', ca: 'no certificate', output: folder }), {
    message: /is a folder; name a file/,
  });
  const recorder = await startRecorder({
    url: 'https://127.0.0.1:1',
    ca: 'no certificate',
    output: join(folder, 'away.jsonl'),
  });
  t.teardown(() => recorder.close());
  const agent = new Agent({ connect: { ca: recorder.ca } });
  t.teardown(() => agent.close());
  const answer = await request(`${recorder.url}/version`, { dispatcher: agent });
  t.match([answer.statusCode, await answer.body.text()], [502, /ECONNREFUSED/]);
});

t.test('the commands print their address, and end with what was recorded and what was not', async (t) => {
  const directory = t.testdir();
  const [file, ca] = [join(directory, 'web.jsonl'), join(directory, 'ca.pem')];
  const simulator = await startSimulator({ password: PASSWORD, passwordCost: TEST_COST });
  t.teardown(() => simulator.close());
  writeFileSync(ca, simulator.ca);
  const open = async (name: string, args: readonly string[]) => {
    const own = join(directory, `${name}.pem`);
    const program = new Program(name, ['entry/sim-cli.ts', name, ...args, '--write-ca', own], { directory });
    const { url } = JSON.parse(await program.firstLine()) as { url: string };
    return { program, url, ca: readFileSync(own, 'utf8') };
  };
  const recorder = await open('record', ['--output', file, '--url', simulator.baseUrl, '--ca', ca]);
  const live = await session(recorder);
  await recorder.program.stop();
  t.equal(await recorder.program.exited, 0);
  const replay = await open('replay', [file]);
  t.same(await session(replay), live);
  const agent = new Agent({ connect: { ca: replay.ca } });
  t.teardown(() => agent.close());
  await (await request(`${replay.url}/other`, { dispatcher: agent })).body.dump();
  await replay.program.stop();
  t.equal(await replay.program.exited, 1);
  t.match(replay.program.logTail(), /GET \/other was not recorded; the nearest is /);
});
