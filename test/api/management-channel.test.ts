// The management channel, a websocket of the fabric API: who may open it, invalid requests, inspections, and
// validations that need no router. test/network/validate.test.ts validates routers.

import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import t from 'tap';
import {
  InspectRequestSchema,
  InspectResponseSchema,
  ValidateResponseSchema,
  ValidateTerminatorsRequestSchema,
} from '#wire/gen/management_pb.js';
import { ChannelHeader, ChannelType, ManagementType } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import { ApiClient, PASSWORD } from '../support/clients/api-client.ts';
import { ManagementClient, VALIDATIONS, type ValidationName } from '../support/clients/management-client.ts';
import { OidcClient } from '../support/clients/oidc-client.ts';
import { listeningRouter } from '../support/networks/listening-router.ts';
import { Overlay } from '../support/networks/overlay.ts';
import { until } from '../support/until.ts';

const NAMES = Object.keys(VALIDATIONS) as ValidationName[];

t.test('only administrators and identities with full access to operations can open a channel', async (t) => {
  await using overlay = await Overlay.start();
  await using api = new ApiClient(overlay.simulator);
  for (const [name, fields] of Object.entries({
    nobody: {},
    reader: { permissions: ['admin_readonly'] },
    operator: { permissions: ['ops.read', 'router', 'terminator', 'service'] },
  })) {
    await api.person(name, fields);
    const token = await api.login(name);
    await t.rejects(ManagementClient.open(overlay.simulator, token), /401/, name);
  }
  await api.person('operations', { permissions: ['ops'] });
  const client = await ManagementClient.open(overlay.simulator, await api.login('operations'));
  t.match((await client.validate('router-links')).response, { success: true, count: 0n });
  client.close();
});

t.test('a channel ends with the session or the rights of its client, and no other channel does', async (t) => {
  const ends: [string, (api: ApiClient, client: { id: string; token: string }) => Promise<void>][] = [
    ['the client logs out', (api, { token }) => api.change('DELETE', '/current-api-session', undefined, token)],
    [
      'the authenticator is deleted',
      async (api, { id }) => {
        const [own] = await api.get(`/identities/${id}/authenticators`);
        await api.change('DELETE', `/authenticators/${own.id}`);
      },
    ],
    ['the identity is deleted', (api, { id }) => api.change('DELETE', `/identities/${id}`)],
    [
      'the identity is disabled',
      (api, { id }) => api.change('POST', `/identities/${id}/disable`, { durationMinutes: 0 }),
    ],
    [
      'the permission is taken away',
      (api, { id }) => api.change('PATCH', `/identities/${id}`, { permissions: ['ops.read'] }),
    ],
  ];
  await using api = await ApiClient.start();
  const { username, password } = api.simulator;
  const administrator = await ManagementClient.open(api.simulator, await api.login(username, password));
  for (const [index, [what, end]] of ends.entries()) {
    const name = `operator-${index}`;
    const id = await api.person(name, { permissions: ['ops'] });
    const token = await api.login(name);
    const client = await ManagementClient.open(api.simulator, token);
    await api.change('PATCH', `/identities/${id}`, { tags: { still: 'entitled' } });
    t.match((await client.validate('router-links')).response, { success: true }, 'unchanged rights');
    await end(api, { id, token });
    await until(what, () => client.isClosed);
    t.same(client.closedWith, { code: 1008, reason: 'the session or the right to this channel has ended' }, what);
  }
  t.match((await administrator.validate('router-links')).response, { success: true });
  administrator.close();
});

t.test('a channel of a token ends with its revocation, not with the time of the token', async (t) => {
  await using api = await ApiClient.start();
  const oidc = new OidcClient(api);
  await api.person('operations', { permissions: ['ops'] });
  const tokens = (await oidc.login('operations', PASSWORD)).body;
  const client = await ManagementClient.open(api.simulator, `Bearer ${tokens.access_token}`);
  await api.clock.advance(24 * 3_600_000);
  await api.person('someone');
  t.match((await client.validate('router-links')).response, { success: true }, 'after a day');
  const fresh = (await oidc.login('operations', PASSWORD)).body;
  const revoked = await ManagementClient.open(api.simulator, `Bearer ${fresh.access_token}`);
  const form = new URLSearchParams({ token: String(fresh.access_token), client_id: 'native' }).toString();
  const type = 'application/x-www-form-urlencoded';
  t.equal((await api.ask('POST', '/oidc/revoke', { body: form, type })).status, 200);
  await until('the end of the channel', () => revoked.isClosed);
  t.notOk(client.isClosed, 'another token');
  client.close();
});

t.test('an open channel keeps its API session in use', async (t) => {
  await using api = await ApiClient.start();
  await api.person('operations', { permissions: ['ops'] });
  const [used, unused] = [await api.login('operations'), await api.login('operations')];
  const client = await ManagementClient.open(api.simulator, used);
  await api.clock.advance(24 * 3_600_000);
  t.notOk(client.isClosed);
  t.equal((await api.ask('GET', '/current-identity', { token: unused })).status, 401);
  t.equal((await api.ask('GET', '/current-identity', { token: used })).status, 200);
  client.close();
});

t.test('invalid filters and bodies are rejected with the reason, and the channel stays open', async (t) => {
  await using overlay = await Overlay.start();
  const { controllerId } = overlay.simulator;
  const client = await ManagementClient.open(overlay.simulator, overlay.management.sessionToken);
  for (const name of NAMES.filter((each) => each !== 'controller-dialers')) {
    const { response, results } = await client.validate(name, 'nothing = 1');
    t.match(response, { success: false, count: 0n, message: /^\S+: failed to unmarshall request: .*nothing/ }, name);
    t.ok(response.message.startsWith(`${controllerId}: `));
    t.same(results, []);
    const unreadable = client.send(new Message(VALIDATIONS[name][0], [], Buffer.from('0aff', 'hex')));
    const { success, message } = fromBinary(ValidateResponseSchema, (await client.reply(unreadable)).body);
    t.match({ success, message }, { success: false, message: /failed to unmarshall request: the body of/ }, name);
  }
  const { response } = await client.validateTerminators({ terminatorsFilter: 'nothing = 1' });
  t.match(response, { success: false, message: /^\S+: failed to run terminator validation: .*nothing/ });
  const broken = client.send(new Message(ManagementType.ValidateTerminators, [], Buffer.from('0aff', 'hex')));
  t.match(
    fromBinary(ValidateResponseSchema, (await client.reply(broken)).body).message,
    /failed to unmarshall request/,
  );
  const unknown = await client.reply(client.send(new Message(10_046)));
  t.equal(unknown.body.toString(), 'requests of type 10046 are not supported');
  const latency = await client.reply(client.send(new Message(ChannelType.Latency)));
  t.ok(latency.bool(ChannelHeader.ResultSuccess));
  t.notOk(client.isClosed);
  client.close();
});

t.test('a filter without a limit selects ten, as in lists', async (t) => {
  await using overlay = await Overlay.start();
  const client = await ManagementClient.open(overlay.simulator, overlay.management.sessionToken);
  for (let index = 0; index < 12; index++)
    (await overlay.management.edgeRouters.create({ name: `router-${index}` })).id;
  for (const [filter, count] of [
    ['', 10],
    ['limit none', 12],
    ['limit 3', 3],
    ['name contains "router-1"', 3],
    ['connected = true', 0],
  ] as const) {
    const { response, results } = await client.validate('router-ert-terminators', filter);
    t.equal(Number(response.count), count, filter);
    t.equal(results.length, count, filter);
  }
  client.close();
});

t.test('inspections are answered over the channel', async (t) => {
  await using overlay = await Overlay.start();
  const { id } = await overlay.addRouter({ name: 'online' });
  const client = await ManagementClient.open(overlay.simulator, overlay.management.sessionToken);
  const inspect = async (appRegex: string, requestedValues: string[]) => {
    const body = toBinary(InspectRequestSchema, create(InspectRequestSchema, { appRegex, requestedValues }));
    const answer = await client.reply(client.send(new Message(ManagementType.Inspect, [], body)));
    return fromBinary(InspectResponseSchema, answer.body);
  };
  const { success, values, errors } = await inspect('online', ['links', 'unknown']);
  t.same([success, errors], [true, []]);
  t.match(values, [{ appId: id, name: 'links', value: /"links":\[\]/ }]);
  t.match(await inspect('(', ['links']), { success: false, errors: [/missing closing/] });
  client.close();
});

t.test('routers that listen for controllers are connected, or reported', async (t) => {
  await using overlay = await Overlay.start({ dialRouters: true, churnLimit: 0 });
  const { management } = overlay;
  const online = await listeningRouter(overlay, 'online', 'host', ['default']);
  const ctrlChanListeners = (port: number) => ({ ctrlChanListeners: { [`tls:127.0.0.1:${port}`]: ['default'] } });
  await management.edgeRouters.patch(online.id, ctrlChanListeners(online.controlPort));
  const { id: unenrolled } = await management.edgeRouters.create({ name: 'unenrolled' });
  await management.edgeRouters.patch(unenrolled, ctrlChanListeners(1));
  const { id: away } = await overlay.enrollRouter({ name: 'away' });
  await management.edgeRouters.patch(away, ctrlChanListeners(1));
  const { id: disabled } = await management.edgeRouters.create({ name: 'disabled', disabled: true });
  await management.edgeRouters.patch(disabled, ctrlChanListeners(1));
  await management.edgeRouters.create({ name: 'does not listen' });
  const client = await ManagementClient.open(overlay.simulator, management.sessionToken);
  const isOnline = async () => (await management.edgeRouters.get(online.id)).isOnline;
  await until('the router to be dialed', isOnline);
  const { response, results } = await client.validate('controller-dialers');
  t.match(response, { success: true, count: 3n });
  const byName = new Map(results.map((each) => [each.componentName, each]));
  t.match(byName.get('online'), { componentId: online.id, validateSuccess: true, errors: [] });
  t.match(byName.get('unenrolled'), { validateSuccess: false, errors: ['not connected and not being dialed'] });
  t.match(byName.get('away'), { errors: [/^not connected, dial state is (?:NeedsDial|Dialing)$/] });
  client.close();
});

t.test('hosts are checked even if no terminator matches', async (t) => {
  await using overlay = await Overlay.start();
  const client = await ManagementClient.open(overlay.simulator, overlay.management.sessionToken);
  const { id } = await overlay.management.identities.create({ name: 'host', type: 'Default', isAdmin: false });
  const request = create(ValidateTerminatorsRequestSchema, { expectedPerHost: 2 });
  await client.validateTerminators(request);
  await until('the host', async () => client.hosts.length === 1);
  t.match(client.hosts, [{ identityId: id, serviceId: '', message: 'expected 2 terminators, but had 0' }]);
  client.close();
});
