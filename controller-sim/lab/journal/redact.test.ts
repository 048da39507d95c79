// The journal's view of a path, a query and a body.

import t from 'tap';
import { shownBody, shownPath, shownQuery, shownReason } from './redact.ts';

const JSON_TYPE = 'application/json';
const TOKEN = 'e7aa0cb1-5a63-4b5c-9c52-9d9ef92f4d5b';

t.test('paths keep words and ids, and lose tokens', async (t) => {
  const table: [path: string, isKnown: boolean, shown: string][] = [
    ['/edge/client/v1/services', true, '/edge/client/v1/services'],
    ['/edge/management/v1/identities/8DJ.x-ab1', true, '/edge/management/v1/identities/8DJ.x-ab1'],
    ['/edge/management/v1/identities/a/role-attributes', false, '/edge/management/v1/identities/a/role-attributes'],
    [`/edge/management/v1/sessions/${TOKEN}`, true, '/edge/management/v1/sessions/…'],
    ['/enroll/ott/AbCdEf', false, '/enroll/ott/…'],
    ['/x/eyJhbGciOi.eyJpc3M.c2ln', true, '/x/…'],
    ['/edge/client/v1/Services/ABCDEF/a1b2c3d4', false, '/edge/client/v1/Services/…/…'],
    [`/${'x'.repeat(5_000)}`, true, `/${'x'.repeat(1_023)}…`],
    ['', true, ''],
  ];
  for (const [path, isKnown, shown] of table) t.equal(shownPath(path, isKnown), shown, path);
});

t.test('queries show the values of known parameters', async (t) => {
  const table: [query: string, shown: string][] = [
    ['limit=1&offset=2', 'limit=1&offset=2'],
    ['method=ott&token=secret', 'method=ott&token=…'],
    ['method=password', 'method=password'],
    ['filter=name%3D%22a%22', 'filter=name%3D%22a%22'],
    ['filter=token%3D%22a%22', 'filter=…'],
    ['a&b=c&=d', '…&…&…'],
    ['filter=%zz', 'filter=%zz'],
  ];
  for (const [query, shown] of table) t.equal(shownQuery(query), shown, query);
});

t.test('secrets stay secrets in any encoding', async (t) => {
  const encode = (text: string) =>
    Array.from(text, (each) => `%${each.charCodeAt(0).toString(16).padStart(2, '0')}`).join('');
  for (const depth of [1, 2, 3, 8]) {
    let token = TOKEN;
    for (let count = 0; count < depth; count++) token = encode(token);
    t.equal(shownPath(`/x/${token}`, true), '/x/…', `path, ${depth} times`);
    t.equal(shownQuery(`sort=${token}&filter=${token}`), 'sort=…&filter=…', `query, ${depth} times`);
  }
  t.equal(shownPath(`/x/${TOKEN.replace('-', '%2D')}`, true), '/x/…', 'encoded in part');
  t.equal(shownQuery(`filter=${encode('token="a"')}`), 'filter=…');
  t.equal(shownQuery('filter=name%20%3D%20%22%25%22'), 'filter=name%20%3D%20%22%25%22', 'other text is shown as sent');
});

t.test('forms show known fields only', async (t) => {
  const shown = (form: string) => shownBody(form, 'application/x-www-form-urlencoded');
  t.equal(
    shown('grant_type=refresh_token&refresh_token=a&x=b'),
    '{"grant_type":"refresh_token","refresh_token":"…","…":"…"}',
  );
  t.equal(shown(`scope=openid&unknown=hidden&${TOKEN}=1`), '{"scope":"openid","…":"…"}');
  t.equal(shown('username=anna&password=p&client_id=c'), '{"username":"anna","password":"…","client_id":"c"}');
});

t.test('bodies lose the values of secret fields at every depth', async (t) => {
  const body = { name: 'x', data: [{ password: 'p', clientSecret: 's' }], tokenRequired: true, csr: null };
  t.equal(
    shownBody(body, JSON_TYPE),
    '{"name":"x","data":[{"password":"…","clientSecret":"…"}],"tokenRequired":true,"csr":null}',
  );
  t.equal(shownBody({ url: 'https://me:pw@host/x' }, JSON_TYPE), '{"url":"https://…@host/x"}');
  t.equal(shownBody('grant_type=x&code=y', 'application/x-www-form-urlencoded'), '{"grant_type":"x","code":"…"}');
  t.equal(shownBody('-----BEGIN', 'application/x-pem-file'), '(text of 10 characters)');
  t.equal(shownBody(undefined, JSON_TYPE), undefined);
  t.equal(shownBody(null, JSON_TYPE), 'null');
});

t.test('huge and deep bodies are cut', async (t) => {
  let deep: unknown = 'end';
  for (let depth = 0; depth < 90; depth++) deep = [deep];
  t.ok((shownBody(deep, JSON_TYPE)?.length ?? 0) < 100);
  const wide = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`n${index}`, 'x'.repeat(100)]));
  t.equal(shownBody(wide, JSON_TYPE)?.length, 4_097);
});

t.test('the reason of an error does not repeat the path', async (t) => {
  t.equal(shownReason('path /enroll/abc was not found', '/enroll/abc', '/enroll/…'), 'path /enroll/… was not found');
  t.equal(shownReason('no / here', '/', '/'), 'no / here');
});
