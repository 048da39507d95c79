// Which requests of clients write to the store that several controllers share: docs/guides/several-controllers.md,
// "Size and speed".

import t from 'tap';
import { SharedMemory } from '../../controller-sim/state/store/shared-memory.ts';
import type { NewSet } from '../../controller-sim/state/store/store.ts';
import { ApiClient, PASSWORD } from '../support/clients/api-client.ts';
import { OidcClient } from '../support/clients/oidc-client.ts';
import { until } from '../support/until.ts';

/** Counts how often its members ask for the lock, and the changes that they append. */
class CountingMemory extends SharedMemory {
  appends = 0;
  sets = 0;

  override append(author: Parameters<SharedMemory['append']>[0], sets: readonly NewSet[]): bigint[] {
    this.appends++;
    this.sets += sets.length;
    return super.append(author, sets);
  }
}

t.test('logins at /oidc and the use of sessions write nothing; other requests of clients a change each', async (t) => {
  const store = new CountingMemory();
  await using api = await ApiClient.start({ store, member: 'one' });
  await api.person('anna');
  const service = await api.create('/services', { name: 'echo', encryptionRequired: true });
  await api.create('/edge-routers', { name: 'router' });
  await api.openPolicies();
  const cost = async (work: () => Promise<unknown>) => {
    const before = { appends: store.appends, sets: store.sets };
    await work();
    return [store.appends - before.appends, store.sets - before.sets];
  };
  const [nothing, one] = [
    [0, 0],
    [1, 1],
  ];
  const oidc = new OidcClient(api);
  const facts = { envInfo: { os: 'linux' }, sdkInfo: { type: 'test', version: '1' } };
  let tokens: Readonly<Record<string, unknown>> = {};
  const login = async () => {
    const { status, body } = await oidc.login('anna', PASSWORD, facts);
    t.equal(status, 200);
    tokens = body;
  };
  t.same(await cost(login), one, 'the client describes itself for the first time');
  t.same(await cost(login), nothing, 'the same client again');
  const use = async (headers: Record<string, string>, token?: string) => {
    for (let count = 0; count < 3; count++)
      for (const path of ['/current-identity', '/services'])
        t.equal((await api.ask('GET', path, { headers, token })).status, 200);
  };
  const bearer = { authorization: `Bearer ${tokens.access_token}` };
  t.same(await cost(() => use(bearer)), nothing);
  const body = { serviceId: service, type: 'Dial' };
  const dial = async (headers: Record<string, string>, token?: string) =>
    t.equal((await api.ask('POST', '/sessions', { body, headers, token })).status, 201);
  t.same(await cost(() => dial(bearer)), nothing, 'the session of a service is a token too');
  t.same(await cost(() => oidc.refresh(String(tokens.refresh_token))), one, 'a refresh token counts once');

  let token = '';
  t.same(await cost(async () => (token = await api.login('anna'))), one, 'a login of the legacy API');
  await api.clock.advance(1_000);
  t.same(await cost(() => use({}, token)), nothing);
  t.same(await cost(() => dial({}, token)), one);
  const minute = async () => {
    const before = store.sets;
    await api.clock.advance(60_000);
    await until('the stored activity', () => store.sets > before);
  };
  t.same(await cost(minute), one, 'activity, once a minute');
  t.same(await cost(() => api.ask('DELETE', '/current-api-session', { token })), one);
});
