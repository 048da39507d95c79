// Events of a network in the reference's format: in a file, in a subscription in the process, and over a websocket.

import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import WebSocket from 'ws';
import { FrameReader } from '#wire/connection/frame-reader.ts';
import { ChannelHeader } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import { startSimulator } from '../../controller-sim/assembly/simulator.ts';
import { TEST_COST } from '../../controller-sim/auth/passwords.ts';
import type { Event, Events as EventBus } from '../../controller-sim/events/events.ts';
import { transfer } from '../../examples/two-routers/transfer.ts';
import { ApiClient, PASSWORD } from '../support/clients/api-client.ts';
import { openManagement } from '../support/clients/management.ts';
import { OidcClient } from '../support/clients/oidc-client.ts';
import { Overlay, until } from '../support/networks/overlay.ts';

const STREAM_TRACES = 10_046;
const REQUEST = 10_040;
const EVENT = 10_041;
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
  t.match(stream.answers[2], { success: false, text: /Unterminated group/ });
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
