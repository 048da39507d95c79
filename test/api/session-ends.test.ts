// The end of sessions, and the time when a disabled identity may open new ones. posture.test.ts tests the effect of
// posture.

import t from 'tap';
import { ApiClient, filtered } from '../support/clients/api-client.ts';

async function sessions(api: ApiClient): Promise<number> {
  return (await api.get<{ sessions: number }>('/summary')).sessions;
}

t.test('sessions end with the entities that they depend on', async (t) => {
  const ends: [string, (api: ApiClient, facts: { id: string; policy: string; token: string }) => Promise<void>][] = [
    ['the service policy is deleted', (api, { policy }) => api.change('DELETE', `/service-policies/${policy}`)],
    [
      'the policy grants the other type',
      (api, { policy }) => api.change('PATCH', `/service-policies/${policy}`, { type: 'Bind' }),
    ],
    [
      'the policy selects others',
      (api, { policy }) => api.change('PATCH', `/service-policies/${policy}`, { identityRoles: ['#x'] }),
    ],
    [
      'the API session is deleted',
      async (api, { id }) => {
        const [session] = await api.get(filtered('/api-sessions', `identity = "${id}"`));
        await api.change('DELETE', `/api-sessions/${session.id}`);
      },
    ],
    ['the client logs out', (api, { token }) => api.change('DELETE', '/current-api-session', undefined, token)],
    [
      'the authenticator is deleted',
      async (api, { id }) => {
        const [own] = await api.get(`/identities/${id}/authenticators`);
        await api.change('DELETE', `/authenticators/${own.id}`);
      },
    ],
    [
      'the identity is disabled',
      (api, { id }) => api.change('POST', `/identities/${id}/disable`, { durationMinutes: 0 }),
    ],
  ];
  for (const [what, end] of ends) {
    await using api = await ApiClient.start();
    await api.create('/edge-routers', { name: 'router' });
    const serviceId = await api.create('/services', { name: 'service', encryptionRequired: true });
    const policy = await api.openPolicies();
    const id = await api.person('user');
    const token = await api.login('user');
    await api.create('/sessions', { serviceId, type: 'Dial' }, token);
    t.equal(await sessions(api), 1);
    await end(api, { id, policy, token });
    t.equal(await sessions(api), 0, what);
  }
});

t.test('repeated requests for the same service get the same session until it ends', async (t) => {
  await using api = await ApiClient.start();
  const serviceId = await api.create('/services', { name: 'service', encryptionRequired: true });
  const edgeRouter = await api.create('/edge-routers', { name: 'router' });
  const all = {
    semantic: 'AnyOf',
    identityRoles: ['#all'],
    serviceRoles: ['#all'],
    edgeRouterRoles: [`@${edgeRouter}`],
  };
  for (const path of ['/edge-router-policies', '/service-edge-router-policies'])
    await api.create(path, { ...all, name: 'all' });
  for (const type of ['Dial', 'Bind']) await api.create('/service-policies', { ...all, name: type, type });
  await api.person('user');
  const token = await api.login('user');
  const create = (type: string, by = token) => api.create('/sessions', { serviceId, type }, by);
  const [dial, ...others] = await Promise.all(['Dial', 'Dial', 'Dial'].map((type) => create(type)));
  t.same(others, [dial, dial]);
  t.equal(await create('Dial'), dial);
  t.not(await create('Bind'), dial);
  t.not(await create('Dial', await api.login('user')), dial);
  t.equal(await sessions(api), 3);
  await api.change('DELETE', `/sessions/${dial}`, undefined, token);
  t.not(await create('Dial'), dial);
});

t.test('an identity that is disabled for a time is enabled when the time has passed, also for routers', async (t) => {
  await using api = await ApiClient.start();
  const { clock } = api;
  const published: unknown[] = [];
  api.simulator.events.subscribe((event) => {
    if (event.namespace === 'entityChange' && event.entityType === 'identities') published.push(event.finalState);
  });
  const id = await api.person('user');
  await api.change('POST', `/identities/${id}/disable`, { durationMinutes: 2 });
  const disabledUntil = new Date(clock.now() + 120_000).toISOString();
  t.match(await api.get(`/identities/${id}`), { disabled: true, disabledUntil });
  await clock.advance(119_999);
  await t.rejects(api.login('user'), /INVALID_AUTH/);
  await clock.advance(1);
  t.match(published.at(-1), { id, disabled: false, disabledUntil: null }, 'a change that routers receive');
  await t.resolves(api.login('user'));
  await api.change('POST', `/identities/${id}/disable`, { durationMinutes: 0 });
  await clock.advance(600_000);
  t.match(await api.get(`/identities/${id}`), { disabled: true }, 'permanently');
  await api.change('POST', `/identities/${id}/enable`);
  await t.resolves(api.login('user'));
});
