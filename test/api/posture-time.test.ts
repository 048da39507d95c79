// Posture over time: one-time passwords that become too old, machines that wake up, and notifications of routers.

import t from 'tap';
import { watchMessages } from '#wire/channel/message-events.ts';
import { SessionRemovedSchema } from '#wire/gen/edge_control_pb.js';
import { EdgeControlType } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import { ApiClient, filtered } from '../support/clients/api-client.ts';
import { type Fields, PostureClient } from '../support/clients/posture-client.ts';
import { Overlay } from '../support/networks/overlay.ts';
import { until } from '../support/until.ts';

const GRACE = 300_000;

t.test('a one-time password is valid until the end of its time, then sessions end', async (t) => {
  await using client = await PostureClient.start(['#mfa']);
  const { api, clock } = client;
  const check = { name: 'mfa', typeId: 'MFA', roleAttributes: ['mfa'], timeoutSeconds: 600 };
  const id = await api.create('/posture-checks', check);
  t.match(await client.groups(), [{ isPassing: false, postureQueries: [{ id, timeout: 600, timeoutRemaining: 0 }] }]);
  t.equal((await client.dial()).status, 409);
  await client.enrollMfa();
  t.match(await client.groups(), [{ isPassing: true, postureQueries: [{ timeout: 600, timeoutRemaining: 600 }] }]);
  const session = await client.dialed();
  await clock.advance(599_000);
  t.match(await client.groups(), [{ isPassing: true, postureQueries: [{ timeout: 600, timeoutRemaining: 1 }] }]);
  await clock.advance(1_000);
  t.ok(await client.isOpen(session), 'the last moment');
  t.equal((await client.dial()).status, 201);
  await clock.advance(1);
  t.match(await client.groups(), [{ isPassing: false, postureQueries: [{ timeoutRemaining: 0 }] }]);
  t.notOk(await client.isOpen(session), 'over');
  const failed = await client.dial();
  t.equal(failed.status, 409);
  t.match((await api.get<object[]>(`/identities/${client.id}/failed-service-requests`))[0], {
    policyFailures: [
      {
        checks: [
          { actualValue: { passedMfa: true, timedOut: true }, expectedValue: { passedMfa: true, timedOut: false } },
        ],
      },
    ],
  });
  await client.pass();
  const second = await client.dialed();
  await api.change('PATCH', `/posture-checks/${id}`, { typeId: 'MFA', timeoutSeconds: 60 });
  await clock.advance(60_001);
  t.notOk(await client.isOpen(second), 'the changed time of the check');
  await api.change('PATCH', `/posture-checks/${id}`, { typeId: 'MFA', timeoutSeconds: -1 });
  await client.pass();
  const third = await client.dialed();
  await clock.advance(10 * 24 * 3_600_000);
  t.ok(await client.isOpen(third), 'no timeout');
  const deletion = await api.manage('DELETE', `/identities/${client.id}/mfa`);
  t.equal(deletion.status, 200);
  t.notOk(await client.isOpen(third), 'without a second factor, no password is valid');
});

for (const event of ['woken', 'unlocked'] as const) {
  t.test(`after the machine was ${event} there are five minutes for a one-time password`, async (t) => {
    await using client = await PostureClient.start(['#mfa']);
    const { api, clock } = client;
    const prompts = { promptOnWake: event === 'woken', promptOnUnlock: event === 'unlocked' };
    const id = await api.create('/posture-checks', { name: 'mfa', typeId: 'MFA', roleAttributes: ['mfa'], ...prompts });
    const report = (fields: Fields) =>
      client.ask('POST', '/posture-response', { id, typeId: 'ENDPOINT_STATE', ...fields });
    await client.enrollMfa();
    await clock.advance(1_000);
    const session = await client.dialed();
    const other = event === 'woken' ? { unlocked: true, woken: false } : { unlocked: false, woken: true };
    t.match(await report(other), { status: 201, data: { services: [] } }, 'no check demands this');
    await clock.advance(GRACE);
    t.ok(await client.isOpen(session));
    t.match(await report({ [event]: true }), {
      status: 201,
      data: {
        services: [{ id: client.service, name: 'service', postureQueryType: 'MFA', timeoutRemaining: GRACE / 1000 }],
      },
    });
    const updatedAt = new Date(clock.now()).toISOString();
    t.match(await client.groups(), [
      { isPassing: true, postureQueries: [{ timeoutRemaining: GRACE / 1000, updatedAt }] },
    ]);
    await clock.advance(GRACE - 1);
    t.equal((await client.dial()).status, 201, 'the last moment of grace');
    await clock.advance(1);
    t.equal((await client.dial()).status, 409, 'over');
    await clock.advance(1);
    t.notOk(await client.isOpen(session));
    await client.pass();
    t.equal((await client.dial()).status, 201);
    await clock.advance(1_000);
    await report({ [event]: true });
    await clock.advance(1_000);
    await client.pass();
    await clock.advance(GRACE);
    t.equal((await client.dial()).status, 201, 'a password within the five minutes');
  });
}

t.test('routers are notified at once of sessions that ended because of posture', async (t) => {
  const removed: string[] = [];
  const unwatch = watchMessages(({ direction, frame }) => {
    const message = Message.fromFrame(frame);
    if (direction === 'in' && message.contentType === EdgeControlType.SessionRemoved)
      removed.push(...message.decode(SessionRemovedSchema).ids);
  });
  await using overlay = await Overlay.start();
  const host = await overlay.addRouter({ name: 'host', mode: 'host' });
  const service = await overlay.addService('echo', host.id);
  await overlay.ready();
  await using api = new ApiClient(overlay.simulator);
  await api.create('/edge-router-policies', {
    name: 'all',
    semantic: 'AnyOf',
    identityRoles: ['#all'],
    edgeRouterRoles: ['#all'],
  });
  const check = await api.create('/posture-checks', { name: 'check', typeId: 'DOMAIN', domains: ['corp'] });
  const [policy] = await api.get(filtered('/service-policies', 'name = "echo-dial"'));
  await api.change('PATCH', `/service-policies/${policy.id}`, { postureCheckRoles: [`@${check}`] });
  await api.person('user');
  const token = await api.login('user');
  const report = (domain: string) =>
    api.ask('POST', '/posture-response', { token, body: { id: check, typeId: 'DOMAIN', domain } });
  await report('corp');
  const session = await api.create('/sessions', { serviceId: service, type: 'Dial' }, token);
  await report('home');
  await until('the router to be notified', () => removed.includes(session));
  unwatch();
  t.same(removed, [session]);
});
