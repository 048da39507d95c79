// The `accept` header: every operation with and without it beside the recorded answers of the reference, and the
// enrollment with a certificate request in PEM, whose answer is JSON.

import { readFileSync } from 'node:fs';
import t from 'tap';
import { ApiClient, newRequest } from '../support/clients/api-client.ts';

/** Operations without a counterpart in the recorded release, and documented differences. */
const DIFFERENT: readonly RegExp[] = [
  /(?:role-attribute-usage|enumerated-router-capabilities)$/, // newer than the recorded release
  /^GET \/edge\/management\/v1\/cas\/\{id\}\/jwt$/, // an error of the reference is an empty token
  /^GET \/fabric\/v1\/ws-api$/, // served to clients that ask for an upgrade
  /^POST \/edge\/management\/v1\/cas\/\{id\}\/verify$/, // the authority is looked up before its certificate is read
];
const HAS_BODY: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH']);

interface Recorded {
  readonly operation: string;
  /** By `accept` header: whether the status is 406, and the content type. */
  readonly answers: ReadonlyMap<string, string>;
}

function readRecorded(): Recorded[] {
  const text = readFileSync(new URL('../vectors/accept.tsv', import.meta.url), 'utf8');
  const [head = '', ...lines] = text.trimEnd().split('\n');
  const [, , ...ranges] = head.split('\t');
  return lines.map((line) => {
    const [method, path, ...answers] = line.split('\t');
    return {
      operation: `${method} ${path}`,
      answers: new Map(ranges.map((range, index) => [range, answers[index] ?? ''])),
    };
  });
}

t.test('operations answer clients with and without an accept header as the reference does', async (t) => {
  await using api = await ApiClient.start();
  const { username, password } = api.simulator;
  const token = await api.login(username, password);
  const recorded = readRecorded();
  t.equal(recorded.length, 293);
  for (const { operation, answers } of recorded) {
    if (DIFFERENT.some((each) => each.test(operation))) continue;
    const [method = '', path = ''] = operation.split(' ');
    for (const [range, expected] of answers) {
      const headers = range === 'none' ? {} : { accept: range };
      const body = HAS_BODY.has(method) ? {} : undefined;
      const answer = await api.ask(method, path.replaceAll(/\{\w+\}/g, 'none'), { token, headers, body });
      const type = String(answer.headers['content-type'] ?? '').split(';')[0] || 'none';
      t.equal(`${answer.status === 406 ? 406 : 'answer'} ${type}`, expected, `${operation}, accept: ${range}`);
    }
  }
});

t.test('a rejection names the types that the operation offers', async (t) => {
  await using api = await ApiClient.start();
  const { username, password } = api.simulator;
  const token = await api.login(username, password);
  for (const [path, offered] of [
    ['/edge/management/v1/.well-known/est/cacerts', 'application/pkcs7-mime application/json'],
    ['/edge/management/v1/identities', 'application/json'],
    ['/edge/client/v1/specs/edge-client/spec', 'text/yaml application/json'],
  ] as const) {
    const reason = `unsupported media type requested, only [${offered}] are available`;
    const rejected = {
      status: 406,
      code: 'COULD_NOT_VALIDATE',
      cause: { field: 'Accept', reason, value: 'text/html' },
    };
    t.match(await api.ask('GET', path, { token, headers: { accept: 'text/html' } }), rejected, path);
  }
});

t.test('other texts are read regardless of the accept header', async (t) => {
  await using api = await ApiClient.start();
  const { username, password } = api.simulator;
  const token = await api.login(username, password);
  const text = { body: '-----BEGIN', type: 'text/plain', token, headers: { accept: 'text/html' } };
  t.match(await api.ask('POST', '/edge/management/v1/cas/none/verify', text), { status: 404, code: 'NOT_FOUND' });
});

t.test('an enrollment with a request in PEM answers JSON, or leaves the token unused', async (t) => {
  await using api = await ApiClient.start();
  const open = async (name: string): Promise<string> => {
    const body = { name, type: 'Device', isAdmin: false, enrollment: { ott: true } };
    return (await api.get(`/identities/${await api.create('/identities', body)}`)).enrollment.ott.token;
  };
  const enroll = (token: string, type: string, accept: string | undefined) =>
    api.ask('POST', `/enroll?method=ott&token=${token}`, {
      ...{ body: newRequest('device').csr, type },
      headers: accept === undefined ? {} : { accept },
    });
  const rejected = await open('rejected');
  for (const accept of ['', 'application/x-pem-file', 'text/html', 'application/json;q=0'])
    t.match(
      await enroll(rejected, 'application/x-pem-file', accept),
      { status: 415, code: 'UNSUPPORTED_MEDIA' },
      accept,
    );
  for (const type of ['application/x-pem-file', 'application/pkcs7', 'text/plain; charset=utf-8'])
    for (const accept of [undefined, '*/*', 'application/*', 'application/json', 'text/html, */*;q=0.1']) {
      const place = `${type}, accept: ${accept}`;
      const answer = await enroll(await open(place), type, accept);
      t.match(answer, { status: 200, headers: { 'content-type': 'application/json' } }, place);
      t.match(answer.data, { cert: /^-----BEGIN CERTIFICATE-----/, ca: /^-----BEGIN CERTIFICATE-----/ }, place);
    }
  t.equal((await enroll(rejected, 'text/plain', undefined)).status, 200, 'rejections did not use the token');
});
