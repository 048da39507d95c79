// Events of a network in the reference's format: in a file, in a subscription in the process, and over a websocket.

import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create, toBinary } from '@bufbuild/protobuf';
import t from 'tap';
import WebSocket from 'ws';
import { FrameReader } from '#wire/connection/frame-reader.ts';
import { AlertsSchema } from '#wire/gen/control_pb.js';
import { ConnectEventsSchema } from '#wire/gen/edge_control_pb.js';
import { ChannelHeader, ControlType, EdgeControlType } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import { startSimulator } from '../../controller-sim/assembly/simulator.ts';
import { TEST_COST } from '../../controller-sim/auth/passwords.ts';
import type { Event, Events as EventBus } from '../../controller-sim/events/events.ts';
import { SharedMemory } from '../../controller-sim/state/store/shared-memory.ts';
import { transfer } from '../../examples/two-routers/transfer.ts';
import { ApiClient, PASSWORD } from '../support/clients/api-client.ts';
import { openManagement } from '../support/clients/management.ts';
import { OidcClient } from '../support/clients/oidc-client.ts';
import { RouterPeer } from '../support/hostile/router-peer.ts';
import { Overlay } from '../support/networks/overlay.ts';
import { until } from '../support/until.ts';

const STREAM_TRACES = 10_046;
const REQUEST = 10_040;
const EVENT = 10_041;
/** reference fact: the keys of an event of its 2.0.0. */
const COUNTED = [
  ...['apiSessionCertificates', 'apiSessions', 'authPolicies', 'authenticators', 'cas', 'configTypes', 'configs'],
  ...['controllers', 'edgeRouterPolicies', 'enrollments', 'eventualEvents', 'externalJwtSigners', 'identities'],
  ...['identityTypes', 'mfas', 'postureCheckTypes', 'postureChecks', 'revocations', 'routers', 'routers.edge'],
  ...['serviceEdgeRouterPolicies', 'servicePolicies', 'services', 'services.edge', 'sessions', 'terminators'],
];
const LIMITS = { maxHeaders: 16_384, maxBody: 1024 * 1024 };

/** An event stream as the reference's command line opens it. */
class Stream {
  readonly events: Event[] = [];
  readonly answers: { success: boolean; text: string }[] = [];
  readonly #socket: WebSocket;

  constructor(url: string, ca: string, token: string) {
    this.#socket = new WebSocket(url, { ca, headers: { 'zt-session': token } });
    const reader = new FrameReader(LIMITS);
    this.#socket.on('message', (data: Buffer) =>
      reader.push(data, (frame) => {
        const message = Message.fromFrame(frame);
        if (message.contentType === EVENT) this.events.push(JSON.parse(message.body.toString()) as Event);
        else this.answers.push({ success: message.bool(ChannelHeader.ResultSuccess), text: message.body.toString() });
        return true;
      }),
    );
  }

  async open(): Promise<void> {
    await once(this.#socket, 'open');
  }

  ask(body: unknown, type = REQUEST): void {
    this.#socket.send(new Message(type, [], JSON.stringify(body)).encode());
  }

  close(): void {
    this.#socket.terminate();
  }
}

t.test('events of a network are published', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
  const file = join(directory, 'events.jsonl');
  const overlay = await Overlay.start({ eventsFile: file });
  const received: Event[] = [];
  overlay.simulator.events.subscribe((event) => received.push(event));
  const url = `${overlay.simulator.baseUrl.replace('https', 'wss')}/fabric/v1/ws-api`;
  const stream = new Stream(url, overlay.simulator.ca, overlay.management.sessionToken);
  await stream.open();
  stream.ask({ format: 'json', subscriptions: [{ type: 'fabric.circuits' }, { type: 'router' }] });
  await until('the stream', async () => stream.answers.length === 1);
  t.same(stream.answers, [{ success: true, text: 'success' }]);

  const client = await overlay.addRouter({ name: 'client', mode: 'proxy' });
  const host = await overlay.addRouter({ name: 'host', mode: 'host' });
  const service = await overlay.addService('echo', host.id);
  await overlay.ready();
  await transfer(client.proxyPort, 1_000);
  await until('the end of the circuit', async () =>
    received.some((each) => each.namespace === 'circuit' && each.event_type === 'deleted'),
  );

  const of = (namespace: string, type: string) =>
    received.filter((each) => each.namespace === namespace && (each.event_type ?? each.eventType) === type);
  t.equal(of('router', 'router-online').length, 2);
  for (const { id } of [client, host])
    t.ok(
      of('sdk', 'sdk-online').some(({ identity_id }) => identity_id === id),
      'the identity of a router with it',
    );
  t.ok(of('link', 'routerLinkNew').length >= 1);
  t.ok(of('terminator', 'created').length >= 1);
  t.ok(of('entityChange', 'created').length > 5);
  t.ok(of('entityChange', 'committed').length > 5);
  const byAdmin = { author: { type: 'identity', name: 'Default Admin' }, source: { type: 'rest', method: 'POST' } };
  const ofKind = (kind: string) => of('entityChange', 'created').find(({ entityType }) => entityType === kind);
  t.match(ofKind('services'), { metadata: byAdmin }, 'the author of the change');
  t.match(ofKind('terminators'), { metadata: { author: { type: 'router', id: host.id, name: 'host' } } });
  const [created] = of('circuit', 'created');
  t.match(created, {
    namespace: 'circuit',
    event_src_id: overlay.simulator.controllerId,
    version: 2,
    service_id: service,
    client_id: client.id,
    path: { nodes: [client.id, host.id] },
    link_count: 1,
    tags: { serviceId: service, clientId: client.id, hostId: host.id },
  });
  t.ok((of('circuit', 'deleted')[0]?.duration as number) > 0);

  const { managementUrl, ca } = overlay.simulator;
  await openManagement(managementUrl, ca, 'admin', 'wrong').catch(() => undefined);
  t.match(of('authentication', 'fail')[0], {
    type: 'password',
    success: false,
    reason: 'INVALID_AUTH',
    identity_id: '',
  });
  await (await openManagement(managementUrl, ca, 'admin', 'secret')).close();
  t.match(of('authentication', 'success')[0], { type: 'password', success: true });
  t.equal(of('apiSession', 'created').at(-1)?.type, 'legacy');

  await host.router.close({ drain: 0 });
  await until('the router to disconnect', async () => of('router', 'router-offline').length === 1);
  // The other router reports it, perhaps later than the controller sees the end of the connection.
  await until('the fault of the link', async () => of('link', 'fault').length >= 1);
  t.ok(of('terminator', 'router-offline').length >= 1 || of('terminator', 'deleted').length >= 1);
  t.same(
    [...new Set(stream.events.map(({ namespace }) => namespace))].sort(),
    ['fabric.circuits', 'router'],
    'the websocket receives the subscribed events',
  );
  stream.close();
  await overlay.close();

  const text = readFileSync(file, 'utf8');
  const written = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Event);
  t.ok(written.length >= received.length);
  t.ok(written.every(({ namespace, timestamp, event_src_id }) => namespace && timestamp && event_src_id));
  for (const secret of ['passwordHash', '$argon2', 'PRIVATE KEY', '"jwt"', overlay.management.sessionToken])
    t.notOk(text.includes(secret), `${secret} is in no event`);
  rmSync(directory, { recursive: true });
});

/** The session of an administrator whose auth policy requires a second factor. */
async function sessionWithoutTotp({ management, simulator }: Overlay): Promise<string> {
  const updb = { allowed: true, maxAttempts: 0, lockoutDurationMinutes: 0, minPasswordLength: 5 };
  const rules = { requireMixedCase: false, requireNumberChar: false, requireSpecialChar: false };
  const { id: authPolicyId } = await management.authPolicies.create({
    name: 'two factors',
    primary: {
      cert: { allowed: false, allowExpiredCerts: false },
      extJwt: { allowed: false, allowedSigners: [] },
      updb: { ...updb, ...rules },
    },
    secondary: { requireTotp: true },
  });
  const { id: identityId } = await management.identities.create({
    name: 'second',
    type: 'User',
    isAdmin: true,
    authPolicyId,
  });
  const proof = { username: 'second', password: 'secret' };
  await management.authenticators.create({ identityId, method: 'updb', ...proof });
  const other = await openManagement(simulator.managementUrl, simulator.ca, proof.username, proof.password);
  await other.close();
  return other.sessionToken;
}

t.test('streams require permission, and reject unknown requests', async (t) => {
  const overlay = await Overlay.start();
  const { baseUrl, ca } = overlay.simulator;
  const url = `${baseUrl.replace('https', 'wss')}/fabric/v1/ws-api`;
  await t.rejects(new Stream(url, ca, 'made up').open(), /401/);
  await t.rejects(new Stream(`${url}/elsewhere`, ca, overlay.management.sessionToken).open(), /404/);
  await t.rejects(new Stream(url, ca, await sessionWithoutTotp(overlay)).open(), /401/);
  const stream = new Stream(url, ca, overlay.management.sessionToken);
  await stream.open();
  stream.ask({ format: 'xml', subscriptions: [] });
  await until('an answer', async () => stream.answers.length === 1);
  t.match(stream.answers[0], { success: false, text: /invalid format/ });
  stream.ask({}, STREAM_TRACES);
  await until('an answer', async () => stream.answers.length === 2);
  t.same(stream.answers[1], { success: false, text: 'requests of type 10046 are not supported' });
  stream.ask({ subscriptions: [{ type: 'metrics', options: { metricFilter: '(' } }] });
  await until('an answer', async () => stream.answers.length === 3);
  t.match(stream.answers[2], { success: false, text: /missing closing \)/ });
  stream.ask({ subscriptions: [{ type: 'metrics', options: { metricFilter: '^wanted$' } }] });
  await until('an answer', async () => stream.answers.length === 4);
  const events = overlay.simulator.events as EventBus; // only the simulator itself emits events
  const measured = { namespace: 'metrics', event_src_id: 'ctrl', timestamp: '', source_id: 'r' } as const;
  for (const metric of ['unwanted', 'wanted']) events.emit({ ...measured, metric, metrics: { value: 1 } });
  await until('a metric', async () => stream.events.length > 0);
  t.match(stream.events, [{ metric: 'wanted', metrics: { value: 1 } }]);

  stream.events.length = 0;
  const others = ['^other', '^more'].map((filter) => ({ type: 'metrics', options: { metricFilter: filter } }));
  stream.ask({ subscriptions: [...others, { type: 'cluster' }] });
  await until('an answer', async () => stream.answers.length === 5);
  for (const metric of ['wanted', 'other', 'more']) events.emit({ ...measured, metric, metrics: { value: 1 } });
  events.emit({ ...measured, namespace: 'cluster' });
  await until('the last event', async () => stream.events.some(({ namespace }) => namespace === 'cluster'));
  t.same(
    stream.events.map(({ metric }) => metric),
    ['wanted', 'other', 'more', undefined],
    'a request adds its subscriptions to those of the earlier ones',
  );
  stream.ask({ subscriptions: Array.from({ length: 97 }, () => ({ type: 'cluster' })) });
  await until('an answer', async () => stream.answers.length === 6);
  t.match(stream.answers[5], { success: false, text: /at most 100 subscriptions/ });
  stream.close();
  await overlay.close();
});

t.test('a session in token form is published when it begins and when it is renewed', async (t) => {
  const overlay = await Overlay.start();
  const received: Event[] = [];
  overlay.simulator.events.subscribe((event) => received.push(event), ['apiSession']);
  const api = new ApiClient(overlay.simulator);
  const oidc = new OidcClient(api);
  const { body } = await oidc.login('admin', 'secret');
  await oidc.refresh(String(body.refresh_token));
  await oidc.exchange('native', String(body.access_token), 'access_token', 'access_token');
  t.same(
    received.map(({ event_type, type, token }) => [event_type, type, token]),
    [
      ['created', 'jwt', ''],
      ['refreshed', 'jwt', ''],
      ['exchanged', 'jwt', ''],
    ],
  );
  t.equal(new Set(received.map(({ id }) => id)).size, 1, 'it remains the same session');
  await api.close();
  await overlay.close();
});

t.test('sessions of services are published, stored or in token form', async (t) => {
  await using api = await ApiClient.start();
  const received: Event[] = [];
  api.simulator.events.subscribe((event) => received.push(event), ['session']);
  await api.create('/edge-routers', { name: 'router' });
  const serviceId = await api.create('/services', { name: 'service', encryptionRequired: true });
  await api.openPolicies();
  const userId = await api.person('user');
  const { access_token: access } = (await new OidcClient(api).login('user', PASSWORD)).body;
  const body = { serviceId, type: 'Dial' };
  const signed = await api.ask('POST', '/sessions', { headers: { authorization: `Bearer ${access}` }, body });
  const stored = await api.create('/sessions', body, await api.login('user'));
  await api.change('DELETE', `/sessions/${stored}`);
  const common = { session_type: 'Dial', identity_id: userId, service_id: serviceId };
  t.match(received, [
    { ...common, event_type: 'created', provider: 'jwt', id: signed.data.id },
    { ...common, event_type: 'created', provider: 'legacy', id: stored },
    { ...common, event_type: 'deleted', provider: 'legacy', id: stored },
  ]);
  t.match(received[0]?.api_session_id, /^[\da-f-]{36}$/, 'that of the token');
});

t.test('the only member of a cluster publishes its leadership', async (t) => {
  await using simulator = await startSimulator({ cluster: true, passwordCost: TEST_COST });
  const received: Event[] = [];
  simulator.events.subscribe((event) => received.push(event), ['cluster']);
  await until('its events', async () => received.length === 2);
  const { controllerId: id, controlAddress: addr } = simulator;
  t.match(received, [
    { namespace: 'cluster', event_src_id: id, eventType: 'leadership.gained', peers: [{ id, addr }] },
    { eventType: 'state.has_leader', leaderId: id },
  ]);
});

t.test('connections of identities and routers are published, and what a router warns of', async (t) => {
  const overlay = await Overlay.start();
  const { simulator, management } = overlay;
  const received: Event[] = [];
  simulator.events.subscribe((event) => received.push(event), ['connect', 'alert']);
  const { id, configFile } = await overlay.enrollRouter({ name: 'router' });
  const { id: identityId } = await management.identities.create({ name: 'client', type: 'Device', isAdmin: false });
  const { controllerId, baseUrl } = simulator;
  const { host } = new URL(baseUrl);
  const LOOPBACK = /^127\.0\.0\.1:\d+$/;
  const fromIdentity = { namespace: 'connect', event_src_id: controllerId, src_type: 'identity', src_addr: LOOPBACK };
  const toController = { dst_type: 'ctrl', dst_id: controllerId };
  t.match(received.at(-1), { ...fromIdentity, ...toController, dst_addr: host }, 'a request with a session');
  const { length } = received;
  const api = new ApiClient(simulator);
  await api.ask('GET', '/version');
  await api.close();
  await t.rejects(management.identities.get('none'), /NOT_FOUND/);
  t.equal(received.length, length + 1, 'a rejected request counts, one without a session does not');

  const peer = await RouterPeer.connect(configFile);
  await until('the channel', async () => received.some(({ src_type }) => src_type === 'router'));
  const ofRouter = received.find(({ src_type }) => src_type === 'router');
  t.match(ofRouter, { src_id: id, src_addr: LOOPBACK, ...toController, dst_addr: host });
  received.length = 0;
  const at = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
  const details = (time: number, srcAddr: string) => ({ connectTime: BigInt(time), srcAddr, dstAddr: '10.0.0.1:3022' });
  const connects = create(ConnectEventsSchema, {
    events: [
      { identityId, isConnected: true, connectTimes: [details(at, '10.0.0.2:2'), details(at - 1, '10.0.0.2:1')] },
      { identityId: 'unknown', isConnected: true, connectTimes: [details(at, '10.0.0.3:1')] },
      { identityId, isConnected: true, connectTimes: [details(1_700_000_000_000_000, '10.0.0.2:3')] },
    ],
  });
  peer.send(new Message(EdgeControlType.ConnectEvents, [], toBinary(ConnectEventsSchema, connects)));
  const alert = { severity: 'error', message: 'no address', details: ['eth0'], timestamp: BigInt(at) };
  const alerts = create(AlertsSchema, {
    alerts: [
      { ...alert, sourceType: 'self', sourceId: '', relatedEntities: { self: 'ert', service: 's' } },
      { ...alert, sourceType: 'router', sourceId: 'other', relatedEntities: { self: 'rt' } },
    ],
  });
  peer.send(new Message(ControlType.Alerts, [], toBinary(AlertsSchema, alerts)));
  await until('the alerts', async () => received.filter(({ namespace }) => namespace === 'alert').length === 2);
  const toRouter = { ...fromIdentity, src_id: identityId, dst_type: 'router', dst_id: id, dst_addr: '10.0.0.1:3022' };
  t.match(
    received.filter(({ namespace }) => namespace === 'connect'),
    [
      { ...toRouter, src_addr: '10.0.0.2:1', timestamp: '2026-01-02T03:04:05.677Z' },
      { ...toRouter, src_addr: '10.0.0.2:2', timestamp: '2026-01-02T03:04:05.678Z' },
      { ...toRouter, src_addr: '10.0.0.2:3', timestamp: /^2\d{3}-/ },
    ],
    'in the order of their times; an invalid time becomes that of the report',
  );
  const common = { event_src_id: controllerId, timestamp: '2026-01-02T03:04:05.678Z', severity: 'error' };
  t.same(
    received.filter(({ namespace }) => namespace === 'alert'),
    [
      {
        ...{ namespace: 'alert', ...common, alert_source_type: 'router', alert_source_id: id },
        ...{ message: 'no address', details: ['eth0'] },
        related_entities: { service: 's', router: id, identity: id },
      },
      {
        ...{ namespace: 'alert', ...common, alert_source_type: 'router', alert_source_id: 'other' },
        ...{ message: 'no address', details: ['eth0'], related_entities: { router: id } },
      },
    ],
  );

  received.length = 0;
  const flood = create(AlertsSchema, { alerts: Array.from({ length: 1_001 }, () => ({ ...alert, message: 'flood' })) });
  peer.send(new Message(ControlType.Alerts, [], toBinary(AlertsSchema, flood)));
  peer.send(new Message(ControlType.Alerts, [], toBinary(AlertsSchema, alerts)));
  await until('the last alert', async () => received.some(({ message }) => message === 'no address'));
  t.equal(received.filter(({ message }) => message === 'flood').length, 1_000, 'a message has at most 1,000 alerts');
  peer.close();
  await overlay.close();
});

t.test('entities are counted at the interval of each subscription, by the leader', async (t) => {
  await using api = await ApiClient.start();
  const { events, lab } = api.simulator;
  const [often, rarely]: [Event[], Event[]] = [[], []];
  const stop = events.subscribe((event) => often.push(event), ['entityCount'], { countInterval: 60_000 });
  events.subscribe((event) => rarely.push(event), ['entityCount']);
  await lab.clock.advance(0);
  t.same([often.length, rarely.length], [1, 1], 'at once');
  const [first] = often;
  t.same(Object.keys(first ?? {}), ['namespace', 'event_src_id', 'timestamp', 'counts']);
  t.same(Object.keys(first?.counts as object).sort(), COUNTED);
  t.match(first?.counts, { identities: 1, services: 0, 'services.edge': 0, 'routers.edge': 0, identityTypes: 2 });
  await api.create('/services', { name: 'service', encryptionRequired: true });
  await api.create('/edge-routers', { name: 'edge' });
  await api.create('/routers', { name: 'transit' });
  await lab.clock.advance('5m');
  t.same([often.length, rarely.length], [6, 2]);
  t.match(rarely[1]?.counts, { services: 1, 'services.edge': 1, routers: 2, 'routers.edge': 1 });
  stop();
  await lab.clock.advance('5m');
  t.same([often.length, rarely.length], [6, 3], 'an ended subscription has no timer');
  t.throws(() => events.subscribe(() => undefined, ['entityCount'], { countInterval: 999 }), /at least 1000/);
});

t.test('only the leader of a cluster counts, unless a subscription asks all', async (t) => {
  const shared = new SharedMemory();
  await using one = await ApiClient.start({ store: shared });
  await using two = await ApiClient.start({ store: shared });
  const received: string[] = [];
  for (const [name, { simulator }] of Object.entries({ one, two }))
    for (const countAlways of [false, true])
      simulator.events.subscribe(() => received.push(`${name} ${countAlways}`), ['entityCount'], { countAlways });
  for (const { simulator } of [one, two]) await simulator.lab.clock.advance(0);
  t.same(received.sort(), ['one false', 'one true', 'two true']);
});
