// Attacks on secrets: read-only callers that search for secrets of others.

import { Secret, TOTP } from 'otpauth';
import t from 'tap';
import { BASES } from '#schemas/api/bases.ts';
import { type ApiOperation, readOperations } from '#schemas/api/operations.ts';
import { ApiClient, filtered, PASSWORD } from '../support/clients/api-client.ts';
import { makeAuthority } from '../support/clients/certificates.ts';
import { OidcClient } from '../support/clients/oidc-client.ts';

const MANAGEMENT = '/edge/management/v1';
const FUTURE = '2099-01-01T00:00:00Z';

/** Secrets by purpose. The signatures of JWTs are sufficient for a search. */
type Secrets = Map<string, string>;

/** Creates entities of every kind with secrets, of an administrator and of an identity without rights. */
async function secretsOf(api: ApiClient): Promise<Secrets> {
  const secrets: Secrets = new Map();
  const keep = (what: string, text: string) => secrets.set(what, text);
  await api.manage('GET', '/identities');
  keep('session of the default administrator', api.token);
  await api.openPolicies();
  for (const path of ['/edge-routers', '/transit-routers']) await api.create(path, { name: path.slice(1) });
  for (const enrollment of await api.get<Record<string, string>[]>('/enrollments'))
    keepEnrollment(keep, `router ${enrollment.id}:`, enrollment);
  const ca = await api.addAuthority('other', await makeAuthority('other'));
  for (const [name, isAdmin] of [
    ['boss', true],
    ['plain', false],
  ] as const) {
    const id = await api.person(name, { isAdmin });
    const open = { ott: await api.create('/enrollments', { identityId: id, method: 'ott', expiresAt: FUTURE }) };
    const ottca = { identityId: id, method: 'ottca', caId: ca, expiresAt: FUTURE };
    const updb = { identityId: id, method: 'updb', username: `${name}-2`, expiresAt: FUTURE };
    for (const enrollment of [
      open.ott,
      await api.create('/enrollments', ottca),
      await api.create('/enrollments', updb),
    ])
      keepEnrollment(keep, `${name}: enrollment`, await api.get(`/enrollments/${enrollment}`));
    const token = await api.login(name);
    keep(`session of ${name}`, token);
    await api.create('/current-identity/mfa', {}, token);
    const mfa = await api.get('/current-identity/mfa', token);
    const secret = new URL(mfa.provisioningUrl).searchParams.get('secret') ?? '';
    keep(`TOTP secret of ${name}`, secret);
    for (const code of mfa.recoveryCodes) keep(`recovery code of ${name} ${code}`, code);
    const service = await api.create('/services', { name: `of-${name}`, encryptionRequired: true });
    const session = await api.ask('POST', '/sessions', { token, body: { serviceId: service, type: 'Dial' } });
    keepJwt(keep, `service session of ${name}`, session.data.token);
    const { body } = await new OidcClient(api).login(name, PASSWORD);
    for (const type of ['access_token', 'refresh_token', 'id_token'])
      keepJwt(keep, `${type} of ${name}`, String(body[type]));
    const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: api.clock.now() });
    await api.change('POST', '/current-identity/mfa/verify', { code }, token);
  }
  return secrets;
}

type Keep = (what: string, text: string) => unknown;

function keepEnrollment(keep: Keep, what: string, { method, token, jwt }: Record<string, string>): void {
  keep(`${what} ${method} token`, token ?? '');
  keepJwt(keep, `${what} ${method}`, jwt ?? '');
}

/** The signature alone finds the token in every encoding. */
function keepJwt(keep: Keep, what: string, jwt: string): void {
  keep(`${what} JWT`, jwt.split('.')[2] ?? '');
}

/** The paths of an operation, with every id of the collection. */
function pathsOf({ api, path, query }: ApiOperation, ids: ReadonlyMap<string, readonly string[]>): string[] {
  const required = query.filter((each) => each.required).map(({ name }) => `${name}=x`);
  const suffix = `${required.length > 0 ? `?${required.join('&')}` : ''}`;
  const collection = path.split('/')[1] ?? '';
  const own = path.includes('{id}') ? (ids.get(collection) ?? ['none']) : [''];
  const [service = 'none'] = ids.get('services') ?? [];
  const filled = (id: string) => path.replace('{id}', id).replace('{serviceId}', service);
  return own.map((id) => `${BASES[api][0]}${filled(id)}${suffix}`);
}

/** Ids in each collection of the management API. */
async function idsOf(api: ApiClient, operations: readonly ApiOperation[]): Promise<Map<string, string[]>> {
  const ids = new Map<string, string[]>();
  for (const { api: name, path } of operations) {
    if (name !== 'management' || !/^\/[\w-]+$/.test(path)) continue;
    const { data } = await api.manage('GET', `${path}?limit=500`);
    if (Array.isArray(data))
      ids.set(
        path.slice(1),
        data.flatMap((each) => (each?.id === undefined ? [] : [each.id])),
      );
  }
  return ids;
}

/** A filter that matches entities by parts of secrets in a field. */
function filterFor(field: string, secrets: Secrets): string {
  const tokens = [...secrets].filter(([what]) => / (?:token|JWT)$|^session/.test(what));
  return tokens.map(([, text]) => `${field} contains "${text.slice(1, 12)}"`).join(' or ');
}

t.test('no read operation reveals secrets of others to a read-only caller', async (t) => {
  await using api = await ApiClient.start();
  const secrets = await secretsOf(api);
  const reads = readOperations().filter(({ method }) => method === 'GET');
  const kinds = new Set(reads.map(({ access }) => access).filter((access) => access.endsWith('.read')));
  for (const kind of ['admin', 'authenticator', 'revocation'] as const) kinds.delete(`${kind}.read`);
  const roles = { reader: ['admin_readonly'], each: [...kinds], operator: ['ops'] };
  for (const [name, permissions] of Object.entries(roles)) await api.person(name, { permissions });
  const ids = await idsOf(api, reads);
  const as = api.connect(undefined, 1);
  const leaks: string[] = [];
  let answers = 0;
  let filters = 0;
  for (const role of Object.keys(roles)) {
    const token = await api.login(role);
    for (const path of reads.flatMap((operation) => pathsOf(operation, ids))) {
      const answer = await api.ask('GET', path, { token, as });
      answers += Number(answer.status === 200);
      for (const [what, text] of secrets) if (answer.text.includes(text)) leaks.push(`${role}: ${what} in ${path}`);
      const fields = (answer.meta?.filterableFields ?? []) as string[];
      const hidden = fields.filter((field) => /^token$|jwt$|secret/i.test(field));
      for (const field of hidden) {
        const found = await api.ask('GET', filtered(path, filterFor(field, secrets)), { token, as });
        filters += 1;
        for (const { id } of found.data ?? [{ id: found.text }]) leaks.push(`${role}: ${field} of ${id} in ${path}`);
      }
    }
  }
  t.ok(secrets.size > 60 && [...secrets.values()].every(({ length }) => length >= 6), `${secrets.size} secrets`);
  t.ok(answers > 300 && filters > 8, `${answers} answers, ${filters} filters`);
  t.same(leaks, []);
});

t.test('owners and administrators see tokens, and so do callers that may open enrollments', async (t) => {
  await using api = await ApiClient.start();
  const id = await api.person('plain', { permissions: ['ops.read'] });
  await api.create('/enrollments', { identityId: id, method: 'ott', expiresAt: FUTURE });
  await api.create('/edge-routers', { name: 'edge' });
  const token = await api.login('plain');
  const tokensIn = async (permissions: readonly string[], path: string): Promise<string[]> => {
    const name = `with ${permissions}`;
    await api.person(name, { permissions });
    const { data } = await api.ask('GET', `${MANAGEMENT}${path}`, { token: await api.login(name) });
    return data.map((each: Record<string, string>) => each.token ?? each.enrollmentToken ?? '');
  };
  const sessions = await api.ask('GET', `${MANAGEMENT}/api-sessions`, { token });
  const own = sessions.data.filter((each: Record<string, string>) => each.token !== '');
  t.same(
    own.map((each: Record<string, string>) => each.token),
    [token],
    'the owner sees its own',
  );
  t.ok((await api.get<{ token: string }[]>('/api-sessions')).every((each) => each.token.length > 20));
  t.same(await tokensIn(['enrollment.read', 'enrollment.delete'], '/enrollments'), ['', '']);
  t.ok((await tokensIn(['enrollment'], '/enrollments')).every((each) => each.length > 20));
  t.same(await tokensIn(['router.read', 'router.delete'], '/edge-routers'), ['']);
  t.ok((await tokensIn(['router'], '/edge-routers')).every((each) => each.length > 20));
});
