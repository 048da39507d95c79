// Access to each operation of the APIs, from the access column in the table of operations. Callers with access must not
// be rejected, and all others must be. Other tests check the answers.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { BASES } from '#schemas/api/bases.ts';
import { type ApiOperation, readOperations } from '#schemas/api/operations.ts';
import { ApiClient, JSON_TYPE } from '../support/clients/api-client.ts';

/** Operations that check credentials themselves. */
const BY_THEMSELVES = new Set(['authenticate', 'extendRouterEnrollment', 'enroll', 'enrollToken']);

/** A caller, and whether the table permits it. */
interface Caller {
  readonly name: string;
  may(access: string): boolean;
  /** Returns the token of a new session; undefined for anonymous callers. */
  login(): Promise<string | undefined>;
}

async function callers(api: ApiClient): Promise<Caller[]> {
  await api.person('plain');
  await api.person('partial', { authPolicyId: await api.authPolicy('two', { secondary: { requireTotp: true } }) });
  await api.person('reader', { permissions: ['admin_readonly'] });
  await api.person('service-keeper', { permissions: ['service'] });
  await api.person('config-creator', { permissions: ['config.create'] });
  const isOpen = (access: string) => access === 'session' || access === 'partial';
  const as = (name: string, may: (access: string) => boolean): Caller => ({ name, may, login: () => api.login(name) });
  return [
    { name: 'nobody', may: () => false, login: async () => undefined },
    { name: 'an invented session', may: () => false, login: async () => 'a'.repeat(64) },
    as('partial', (access) => access === 'partial'),
    as('plain', isOpen),
    as('reader', (access) => isOpen(access) || access.endsWith('.read')),
    as('service-keeper', (access) => isOpen(access) || access.startsWith('service.')),
    as('config-creator', (access) => isOpen(access) || access === 'config.create'),
    as('admin', () => true),
  ];
}

function pathOf({ api, path, query }: ApiOperation): string {
  const parameters = query.filter(({ required }) => required).map(({ name }) => `${name}=x`);
  const filled = `${BASES[api][0]}${path.replaceAll(/\{\w+\}/g, 'there-is-none')}`;
  return parameters.length > 0 ? `${filled}?${parameters.join('&')}` : filled;
}

t.test('every operation admits the callers in the table and rejects all others', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
  const api = await ApiClient.start({ data: join(directory, 'sim.db') });
  const connection = api.connect(undefined, 1);
  const wrong: string[] = [];
  let count = 0;
  for (const caller of await callers(api)) {
    let token = await caller.login();
    for (const operation of readOperations()) {
      const { id, method, access, body } = operation;
      if (access === 'none' && BY_THEMSELVES.has(id)) continue;
      // Without an entry, a wait lasts ten seconds.
      const sent = id === 'waitForEntry' ? { timeout: '0s' } : {};
      const options = { token, as: connection, type: JSON_TYPE, ...(body && { body: sent }) };
      const { status } = await api.ask(method, pathOf(operation), options);
      const isRejected = status === 401;
      if (isRejected === (access === 'none' || caller.may(access)))
        wrong.push(`${caller.name} ${method} ${operation.api} ${id} (${access}): ${status}`);
      if (status >= 500 && status !== 501) wrong.push(`${method} ${operation.api} ${id}: ${status}`);
      if (id === 'deleteCurrentAPISession') token = await caller.login();
      count += 1;
    }
  }
  t.same(wrong, []);
  t.ok(count > 8 * 290, `${count} calls`);
  await api.close();
  rmSync(directory, { recursive: true });
});

t.test('permissions do not extend to administrators', async (t) => {
  await using api = await ApiClient.start();
  const permissions = ['identity', 'enrollment'];
  await api.person('helper', { permissions });
  const token = await api.login('helper');
  const boss = await api.create('/identities', {
    name: 'boss',
    type: 'User',
    isAdmin: true,
    enrollment: { ott: true },
  });
  const { enrollment } = await api.get(`/identities/${boss}`);
  const id = enrollment.ott.id;
  const expiresAt = new Date(api.clock.now() + 3_600_000).toISOString();
  const rejected: readonly (readonly [string, string, unknown?])[] = [
    ['POST', '/enrollments', { identityId: boss, method: 'updb', username: 'x', expiresAt }],
    ['POST', `/enrollments/${id}/refresh`, { expiresAt }],
    ['GET', `/enrollments/${id}`],
    ['DELETE', `/enrollments/${id}`],
    ['PATCH', `/identities/${boss}`, { name: 'nobody' }],
    ['POST', `/identities/${boss}/disable`, { durationMinutes: 0 }],
    ['DELETE', `/identities/${boss}/mfa`],
    ['DELETE', `/identities/${boss}`],
  ];
  for (const [method, path, body] of rejected) {
    const answer = await api.ask(method, `/edge/management/v1${path}`, { token, ...(body !== undefined && { body }) });
    t.match(answer, { status: 401, code: 'UNAUTHORIZED', cause: { message: /^non-admins may not / } }, method + path);
  }
  const read = async (path: string) => (await api.ask('GET', `/edge/management/v1${path}`, { token })).data;
  t.same((await read(`/identities/${boss}`)).enrollment, {}, 'nor the enrollment token of the administrator');
  t.same((await read('/identities?filter=name="boss"'))[0].enrollment, {});
  t.same(await read('/enrollments'), []);
  t.same(await read(`/identities/${boss}/enrollments`), []);

  const user = await api.create('/identities', {
    name: 'user',
    type: 'User',
    isAdmin: false,
    enrollment: { ott: true },
  });
  t.equal((await read('/enrollments')).length, 1);
  const body = { identityId: user, method: 'updb', username: 'user', expiresAt };
  const created = await api.ask('POST', '/edge/management/v1/enrollments', { token, body });
  t.equal(created.status, 201, 'they extend to other identities');
});
