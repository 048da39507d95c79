// Validations of a running network (`ziti fabric validate`): routers without faults, and every fault that they can
// report.

import { setTimeout as sleep } from 'node:timers/promises';
import { create, toBinary } from '@bufbuild/protobuf';
import t from 'tap';
import { VirtualClock } from '#lib/time/clock.ts';
import {
  InspectRequestSchema,
  InspectResponseSchema,
  TerminatorInvalidReason,
  ValidateTerminatorsV2ResponseSchema,
} from '#wire/gen/control_pb.js';
import {
  RouterDataModelValidateRequestSchema,
  RouterDataModelValidateResponseSchema,
} from '#wire/gen/edge_control_pb.js';
import { LinkState, TerminatorState } from '#wire/gen/management_pb.js';
import { ControlType, EdgeControlType, SdkHeader, SdkType } from '#wire/gen/numbers.ts';
import { TRUE } from '#wire/header-values.ts';
import { type HeaderEntries, Message } from '#wire/message.ts';
import { ManagementClient, VALIDATIONS, type ValidationName } from '../support/clients/management-client.ts';
import { type Device, enrollDevice, loginLegacy, SdkClient, serviceSession } from '../support/clients/sdk-client.ts';
import { edgeListener } from '../support/config/link-config.ts';
import { RouterPeer } from '../support/hostile/router-peer.ts';
import { Overlay, type TestRouter } from '../support/networks/overlay.ts';
import { until } from '../support/until.ts';

const BIND = Buffer.of(2);
const OTHER = Buffer.of(1);

/** Two routers with a link; b's tunneler hosts `echo`, and an SDK client at b hosts `hosted`. */
class Network {
  readonly overlay: Overlay;
  readonly a: TestRouter;
  readonly b: TestRouter;
  readonly device: Device;
  readonly host: SdkClient;
  readonly client: SdkClient;
  readonly echoSession: string;
  readonly bindSession: string;
  /** Connects another client with the same session to b. */
  readonly connect: () => Promise<SdkClient>;
  readonly management: ManagementClient;
  /** The kind of connection that the host reports for its service. */
  hostedAs = BIND;
  /** Receives the questions about the host's service; by default the host answers. */
  onQuestion: ((question: Message) => void) | undefined;

  private constructor(
    facts: Omit<Network, 'hostedAs' | 'onQuestion' | 'bind' | 'terminators' | typeof Symbol.asyncDispose>,
  ) {
    this.overlay = facts.overlay;
    this.a = facts.a;
    this.b = facts.b;
    this.device = facts.device;
    this.host = facts.host;
    this.client = facts.client;
    this.echoSession = facts.echoSession;
    this.bindSession = facts.bindSession;
    this.connect = facts.connect;
    this.management = facts.management;
    this.host.channel.on(SdkType.ConnectionInspect, (question) => {
      if (this.onQuestion) return this.onQuestion(question);
      const headers = [
        [SdkHeader.ConnectionId, question.headers.get(SdkHeader.ConnectionId) ?? ''],
        [SdkHeader.ConnectionType, this.hostedAs],
      ] as const;
      this.host.channel.reply(question, new Message(SdkType.ConnectionInspectResponse, headers, 'as the host says'));
    });
  }

  static async start(): Promise<Network> {
    const overlay = await Overlay.start({ churnLimit: 0 });
    const listeners = [edgeListener()];
    const extra = { connectEvents: { batchInterval: '50ms' } };
    const a = await overlay.addRouter({ name: 'a', mode: 'host', listeners, extra });
    const b = await overlay.addRouter({ name: 'b', mode: 'host', listeners, extra });
    const all = { semantic: 'AnyOf', identityRoles: ['#all'], edgeRouterRoles: ['#all'] } as const;
    await overlay.management.edgeRouterPolicies.create({ name: 'all', ...all });
    const echo = await overlay.addService('echo', b.id, { encrypted: false });
    const device = await enrollDevice(overlay, 'device');
    const hosted = await overlay.addService('hosted', device.identityId, { encrypted: false });
    await overlay.ready();
    const token = await loginLegacy(overlay, device);
    const host = await SdkClient.connect(b.sdkPort, device, token);
    const client = await SdkClient.connect(a.sdkPort, device, token);
    const echoSession = await serviceSession(overlay, device, token, echo, 'Dial');
    const management = await ManagementClient.open(overlay.simulator, overlay.management.sessionToken);
    const bindSession = await serviceSession(overlay, device, token, hosted, 'Bind');
    const connect = () => SdkClient.connect(b.sdkPort, device, token);
    const network = new Network({ connect, bindSession, overlay, a, b, device, host, client, echoSession, management });
    await network.bind(host, [[SdkHeader.SupportsInspect, TRUE]]);
    const stored = async () => (await overlay.management.terminators.list()).length;
    await until('both terminators', async () => (await stored()) === 2);
    return network;
  }

  /** Hosts the service `hosted`. */
  async bind(host: SdkClient, headers: HeaderEntries): Promise<void> {
    await host.bind(this.bindSession, () => undefined, headers);
  }

  async terminators(): Promise<{ id: string; binding: string }[]> {
    return this.overlay.management.terminators.list();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.management.close();
    this.host.close();
    this.client.close();
    await this.device.http.close();
    await this.overlay.close();
  }
}

t.test('a network without faults has no errors', async (t) => {
  await using network = await Network.start();
  const { management, a, b, client, echoSession } = network;
  const names = [a, b].map(({ name }) => name);
  const { conn, answer } = await client.dial(echoSession);
  t.equal(answer.contentType, SdkType.StateConnected, answer.body.toString());
  conn.send('hello');
  await until('the echo', () => conn.text === 'hello');
  const states = async () => (await management.validate('identity-connection-statuses')).results;
  await until('the reports of connections', async () => (await states()).every(({ errors }) => errors.length === 0));
  t.same((await states()).map(({ componentName, validateSuccess }) => [componentName, validateSuccess]).sort(), [
    ['a', true],
    ['b', true],
  ]);

  const links = (await management.validate('router-links')).results;
  t.same(links.map(({ routerName }) => routerName).sort(), names);
  for (const { linkDetails, validateSuccess, message } of links) {
    t.same([validateSuccess, message, linkDetails.length], [true, '', 1]);
    const { ESTABLISHED } = LinkState;
    const valid = {
      isValid: true,
      destConnected: true,
      ctrlState: ESTABLISHED,
      routerState: ESTABLISHED,
      messages: [],
    };
    t.match(linkDetails[0], valid);
  }
  for (const [name, binding] of [
    ['router-sdk-terminators', 'edge'],
    ['router-ert-terminators', 'tunnel'],
  ] as const) {
    const { results } = await management.validate(name, 'name = "b"');
    const id = (await network.terminators()).find((each) => each.binding === binding)?.id;
    t.match(results, [{ routerName: 'b', validateSuccess: true, message: '', details: [{ terminatorId: id }] }], name);
    t.match(results[0]?.details[0], { isValid: true, routerState: 'established', ctrlState: TerminatorState.VALID });
    const { results: others } = await management.validate(name, 'name = "a"');
    t.match(others, [{ routerName: 'a', validateSuccess: true, message: '', details: [] }], name);
  }
  const circuits = (await management.validate('circuits')).results;
  for (const { details, validateSuccess } of circuits) {
    t.ok(validateSuccess);
    const [circuit, ...others] = Object.values(details);
    t.same([circuit?.missingInCtrl, circuit?.missingInForwarder, circuit?.missingInEdge], [false, false, false]);
    t.same(others, []);
  }
  const { results: models, response } = await management.validate('router-data-model', '', { validateCtrl: true });
  t.equal(response.count, 3n);
  t.same(models.map(({ componentType, errors, validateSuccess }) => [componentType, errors, validateSuccess]).sort(), [
    ['controller', [], true],
    ['router', [], true],
    ['router', [], true],
  ]);
  const { results: terminators } = await management.validateTerminators();
  t.same(terminators.map(({ binding, routerName, state, detail }) => [binding, routerName, state, detail]).sort(), [
    ['edge', 'b', TerminatorState.VALID, 'as the host says'],
    ['tunnel', 'b', TerminatorState.VALID, 'valid'],
  ]);
  t.match(
    terminators.find(({ binding }) => binding === 'edge'),
    {
      serviceName: 'hosted',
      hostId: network.device.identityId,
      createDate: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/,
    },
  );
  t.match((await management.validate('controller-dialers')).response, {
    success: false,
    message: `${network.overlay.simulator.controllerId}: controller dialer is not enabled`,
  });
});

t.test('terminators that a router does not have are reported, and deleted on request', async (t) => {
  await using network = await Network.start();
  const { management, overlay, b } = network;
  const { id: offline } = await overlay.management.edgeRouters.create({ name: 'offline' });
  const [service] = await overlay.management.services.list({ filter: 'name="echo"' });
  const service_ = service?.id ?? '';
  const add = async (binding: string, router: string) =>
    (await overlay.management.terminators.create({ service: service_, router, binding, address: 'tcp:127.0.0.1:1' }))
      .id;
  const gone = await add('tunnel', b.id);
  const alien = await add('alien', b.id);
  const transport = await add('transport', b.id);
  const away = await add('tunnel', offline);
  const statesOf = (results: readonly { terminatorId: string; state: number; fixed: boolean; detail: string }[]) =>
    new Map(results.map(({ terminatorId, state, fixed, detail }) => [terminatorId, { state, fixed, detail }]));

  const seen = statesOf((await management.validateTerminators()).results);
  const { VALID, UNKNOWN, INVALID_UNKNOWN_BINDING, INVALID_UNKNOWN_TERMINATOR } = TerminatorState;
  t.match(seen.get(gone), { state: INVALID_UNKNOWN_TERMINATOR, fixed: false });
  t.match(seen.get(alien), { state: INVALID_UNKNOWN_BINDING, fixed: false });
  t.match(seen.get(transport), { state: VALID, detail: 'valid' });
  t.match(seen.get(away), { state: UNKNOWN, detail: 'router off-line' });
  t.equal(seen.size, 6);
  const ert = await management.validate('router-ert-terminators', 'name = "b"');
  t.match(
    ert.results[0]?.details.filter(({ isValid }) => !isValid),
    [{ terminatorId: gone, routerState: 'unknown', ctrlState: VALID }],
    'the controller has a terminator that the router does not have',
  );

  network.hostedAs = OTHER;
  const unfixed = statesOf((await management.validateTerminators({ terminatorsFilter: 'binding = "edge"' })).results);
  t.match([...unfixed.values()], [{ state: INVALID_UNKNOWN_TERMINATOR, fixed: false, detail: 'as the host says' }]);
  t.equal((await network.terminators()).length, 6, 'nothing is deleted without a request');

  const changes: unknown[] = [];
  overlay.simulator.events.subscribe((event) => changes.push(event), ['entityChange']);
  const fixed = statesOf((await management.validateTerminators({ fixInvalid: true })).results);
  const repaired = [...fixed].filter(([, each]) => each.fixed).map(([id]) => id);
  t.equal(repaired.length, 3);
  t.ok(repaired.includes(gone) && repaired.includes(alien));
  const left = (await network.terminators()).map(({ binding }) => binding).sort();
  t.same(left, ['transport', 'tunnel', 'tunnel'], 'the valid ones, and the one whose router is offline');
  const author = { type: 'identity', name: 'Default Admin' };
  t.ok(
    changes.some((event) => isDeletion(event, author.name)),
    'the caller is the author of the deletion',
  );
  const sdk = await management.validate('router-sdk-terminators', 'name = "b"');
  t.same(sdk.results[0]?.details, [], 'the router removed the terminator of the client');
});

function isDeletion(event: unknown, author: string): boolean {
  const { entityType, eventType, metadata } = event as Record<string, unknown>;
  const text = JSON.stringify(metadata ?? {});
  return entityType === 'terminators' && eventType === 'deleted' && text.includes(author) && text.includes('websocket');
}

t.test('hosts with an unexpected number of terminators are reported', async (t) => {
  await using network = await Network.start();
  const { management, device, b } = network;
  await management.validateTerminators({ expectedPerSvcAndHost: 1, expectedPerHost: 1 });
  const identities = new Set([device.identityId, b.id]);
  await until('the hosts', async () => management.hosts.length > 0);
  t.notOk(
    management.hosts.some(({ identityId }) => identities.has(identityId)),
    'both have the expected number',
  );
  const before = management.hosts.length;
  const identitiesFilter = 'name = "device"';
  await management.validateTerminators({ expectedPerSvcAndHost: 2, expectedPerHost: 3, identitiesFilter });
  await until('the hosts', async () => management.hosts.length === before + 3);
  const counts = management.hosts.slice(before).map(({ identityId, message }) => `${identityId}: ${message}`);
  t.same(
    counts.sort(),
    [
      ...[`${b.id}: expected 2 terminators, but had 1`, `${device.identityId}: expected 2 terminators, but had 1`],
      `${device.identityId}: expected 3 terminators, but had 1`,
    ].sort(),
  );
  await management.validateTerminators({ expectedPerHost: 1, identitiesFilter: 'nothing = 1' });
  await until('the reason', async () => management.hosts.at(-1)?.identityId === 'invalid identities query');
  t.match(management.hosts.at(-1)?.message, /invalid query 'nothing = 1' \(.+\)/);
});

/** A simulator with a virtual clock, and a connected router that answers as the test says. */
async function peerNetwork(answers: { inspect?: (names: readonly string[]) => Record<string, unknown> } = {}) {
  const clock = new VirtualClock(Date.now());
  const overlay = await Overlay.start({ clock });
  const { id, configFile } = await overlay.enrollRouter({ name: 'peer' });
  const peer = await RouterPeer.connect(configFile);
  const { inspect } = answers;
  if (inspect)
    peer.on(ControlType.InspectRequest, (message) => {
      const { requestedValues } = message.decode(InspectRequestSchema);
      const values = Object.entries(inspect(requestedValues)).map(([name, value]) => ({
        name,
        value: typeof value === 'string' ? value : JSON.stringify(value),
      }));
      const body = toBinary(InspectResponseSchema, create(InspectResponseSchema, { success: true, values }));
      return new Message(ControlType.InspectResponse, [], body);
    });
  const management = await ManagementClient.open(overlay.simulator, overlay.management.sessionToken);
  const close = async () => {
    management.close();
    peer.close();
    await overlay.close();
  };
  const isOnline = async () => (await overlay.management.edgeRouters.get(id)).isOnline;
  await until('the router to be online', isOnline);
  return { clock, overlay, id, peer, management, [Symbol.asyncDispose]: close };
}

const ROUTER_VALIDATIONS = Object.keys(VALIDATIONS).filter((name) => name !== 'controller-dialers') as Exclude<
  ValidationName,
  'controller-dialers'
>[];

t.test('a router that never answers, and one that is not connected, have results with the reason', async (t) => {
  await using network = await peerNetwork();
  const { clock, management, overlay, id } = network;
  const { id: offline } = await overlay.management.edgeRouters.create({ name: 'offline' });
  const running = ROUTER_VALIDATIONS.map(async (name) => [name, (await management.validate(name)).results] as const);
  const { id: service } = await overlay.management.services.create({ name: 'x', encryptionRequired: false });
  const terminator = { service, router: id, binding: 'transport', address: 'tcp:127.0.0.1:1' };
  await overlay.management.terminators.create(terminator);
  const terminators = management.validateTerminators();
  let isOver = false;
  const all = Promise.all([terminators, ...running]).finally(() => {
    isOver = true;
  });
  while (!isOver) {
    await clock.advance(1_000);
    await sleep(5);
  }
  const [{ results: judged }, ...others] = await all;
  t.match(judged, [{ routerId: id, state: TerminatorState.UNKNOWN, detail: /took longer than 60000 ms/ }]);
  const whyOffline: Record<string, RegExp> = {
    circuits: new RegExp(`^router ${offline} is not connected$`),
    'router-data-model': /^router not connected to controller$/,
    'identity-connection-statuses': /^$/,
  };
  for (const [name, results] of others) {
    const reasonOf = (of: string) => {
      const found = results.find((each) => ('routerId' in each ? each.routerId : each.componentId) === of);
      return found && ('errors' in found ? found.errors.join() : found.message);
    };
    t.match(reasonOf(id), /took longer than 60000 ms/, name);
    t.match(reasonOf(offline), whyOffline[name] ?? /^router not connected$/, name);
  }
});

t.test('values of the wrong type are an error of their router', async (t) => {
  let values: Record<string, unknown> = {};
  await using network = await peerNetwork({ inspect: () => values });
  const { management, id } = network;
  const reasons = async (name: (typeof ROUTER_VALIDATIONS)[number]) => {
    const [result] = (await management.validate(name)).results;
    return result && ('errors' in result ? result.errors.join() : result.message);
  };
  const broken = { links: { links: 5 }, 'sdk-terminators': { entries: [null, 1] }, 'router-circuits': '[]' };
  const worse = {
    'ert-terminators': { errors: ['no', 'way'] },
    'identity-connection-statuses': { identity_connections: { x: [] } },
  };
  for (const [name, missing] of [
    ['router-links', 'no link details returned from router'],
    ['router-sdk-terminators', 'no terminator details returned from router'],
    ['router-ert-terminators', 'no terminator details returned from router'],
    ['identity-connection-statuses', 'no identity in connection details returned from router'],
    ['circuits', 'no identity in connection details returned from router'],
  ] as const)
    t.equal(await reasons(name), missing);
  values = { ...broken, ...worse };
  t.equal(await reasons('router-links'), 'links.links is not a list');
  t.equal(await reasons('router-sdk-terminators'), 'sdk-terminators.entries is not an object');
  t.equal(await reasons('router-ert-terminators'), 'no,way');
  t.equal(await reasons('circuits'), 'router-circuits is not an object');
  t.match(await reasons('identity-connection-statuses'), /identity_connections is not an object/);

  values = {
    links: {
      links: [
        { id: 'unknown', dest: 'nobody', dialed: true },
        { id: 'other', dest: id },
      ],
    },
    'sdk-terminators': { entries: [{ id: 't1', state: 'establishing', operationActive: true, createTime: 'now' }] },
    'ert-terminators': { entries: [], errors: null },
    'identity-connection-statuses': {
      identity_connections: {
        i1: { connections: [{ closed: false }], unreported_count: 1, unreported_state_changed: true },
        i2: { connections: [{ closed: true }], being_reported_count: 1, being_reported_state_changed: true },
      },
    },
    'router-circuits': { circuits: { c1: { ctrlId: network.overlay.simulator.controllerId }, c2: { ctrlId: 'x' } } },
    'router-edge-circuits': {
      circuits: { 'c3/1': { ctrlId: network.overlay.simulator.controllerId, circuitId: 'c3' } },
    },
    'router-sdk-circuits': {
      circuits: { 'c4/1': { ctrlId: network.overlay.simulator.controllerId, circuitId: 'c4' } },
    },
  };
  const [links] = (await management.validate('router-links')).results;
  t.match(links?.linkDetails, [
    { linkId: 'unknown', isValid: true, destConnected: false, ctrlState: LinkState.UNKNOWN },
    { linkId: 'other', isValid: false, destConnected: true, ctrlState: LinkState.UNKNOWN },
  ]);
  const [sdk] = (await management.validate('router-sdk-terminators')).results;
  t.match(sdk?.details, [
    { terminatorId: 't1', isValid: false, routerState: 'establishing', operationActive: true, createTime: 'now' },
  ]);
  const [identities] = (await management.validate('identity-connection-statuses')).results;
  t.same(identities?.errors, [
    'router reports identity i1 connected, but controller disagrees',
    'identity i1 has unreported events',
    'identity i1 has unreported state change',
    'identity i2 has events still being reported',
    'identity i2 has state change being reported',
  ]);
  const [circuits] = (await management.validate('circuits')).results;
  const flags = Object.values(circuits?.details ?? {}).map((each) => [
    each.circuitId,
    ...[each.missingInCtrl, each.missingInForwarder, each.missingInEdge, each.missingInSdk],
  ]);
  t.same(flags.sort(), [
    ['c1', true, false, false, false],
    ['c3', true, true, false, false],
    ['c4', true, true, true, false],
  ]);
});

t.test('a data model that differs is reported by its router, which receives the right one', async (t) => {
  await using network = await peerNetwork();
  const { peer, management, overlay } = network;
  const asked: { fix: boolean; identities: string[] }[] = [];
  peer.on(EdgeControlType.ValidateDataState, (message: Message) => {
    const { state, fix } = message.decode(RouterDataModelValidateRequestSchema);
    const identities = (state?.events ?? []).flatMap(({ model }) =>
      model.case === 'identity' ? [model.value.name] : [],
    );
    asked.push({ fix, identities });
    const diffs = [{ entityType: 'identity', entityId: 'x', diffType: 'removed', detail: 'entity missing' }];
    const response = create(RouterDataModelValidateResponseSchema, { diffs });
    const body = toBinary(RouterDataModelValidateResponseSchema, response);
    return new Message(EdgeControlType.ValidateDataStateResponse, [], body);
  });
  await overlay.management.identities.create({ name: 'someone', type: 'Default', isAdmin: false });
  const { results } = await management.validate('router-data-model');
  const errors = ['identity id: x removed: entity missing'];
  t.match(results, [{ componentType: 'router', componentName: 'peer', validateSuccess: false, errors }]);
  await management.validate('router-data-model', '', { fix: true });
  t.same(
    asked.map(({ fix }) => fix),
    [false, true],
  );
  t.ok(asked.every(({ identities }) => identities.includes('someone')));
});

t.test('a late answer deletes no terminators, and nothing is deleted for a client that left', async (t) => {
  await using network = await peerNetwork();
  const { peer, overlay, id } = network;
  const { id: service } = await overlay.management.services.create({ name: 'x', encryptionRequired: false });
  const terminator = { service, router: id, binding: 'tunnel', address: 'tcp:127.0.0.1:1' };
  const { id: terminatorId } = await overlay.management.terminators.create(terminator);
  const { promise: isAnswered, resolve: answerNow } = Promise.withResolvers<void>();
  let asked = 0;
  peer.on(ControlType.ValidateTerminatorsV2, async () => {
    asked++;
    await isAnswered;
    const reason = TerminatorInvalidReason.UNKNOWN_TERMINATOR;
    const states = { [terminatorId]: { valid: false, reason, detail: 'gone' } };
    const body = toBinary(ValidateTerminatorsV2ResponseSchema, create(ValidateTerminatorsV2ResponseSchema, { states }));
    return new Message(ControlType.ValidateTerminatorsV2Response, [], body);
  });
  for (const fixInvalid of [false, true]) {
    const client = await ManagementClient.open(overlay.simulator, overlay.management.sessionToken);
    client.validateTerminators({ fixInvalid }).catch(() => undefined);
    await until('the question', () => asked === (fixInvalid ? 2 : 1));
    client.close();
    await until('the end of the channel', () => client.isClosed);
  }
  await sleep(50);
  answerNow();
  // The answers arrive before the next question to this router is answered.
  const { results } = await network.management.validateTerminators();
  t.match(results, [{ terminatorId, state: TerminatorState.INVALID_UNKNOWN_TERMINATOR, fixed: false, detail: 'gone' }]);
  t.equal((await overlay.management.terminators.list()).length, 1);
});

t.test('a router that missed changes of the data model reports them, and a repair ends that', async (t) => {
  const clock = new VirtualClock(Date.now());
  await using overlay = await Overlay.start({ clock });
  const { id } = await overlay.addRouter({ name: 'behind' });
  const management = await ManagementClient.open(overlay.simulator, overlay.management.sessionToken);
  const errors = async (fix = false) =>
    (await management.validate('router-data-model', '', { fix })).results[0]?.errors;
  await until('the data model', async () => (await errors())?.length === 0);
  // The subscription expires at the controller: the router's own clock does not move.
  for (let seconds = 0; seconds < 400; seconds++) {
    await clock.advance(1_000);
    await sleep(2);
  }
  const identity = (name: string) =>
    overlay.management.identities.create({ name, type: 'Default', isAdmin: false }).then(({ id }) => id);
  const missed = await identity('missed');
  await overlay.management.edgeRouters.patch(id, { name: 'renamed' });
  const expected = [
    `identity id: ${missed} removed: entity missing`,
    `identity id: ${id} modified: name mismatch. orig: "renamed", copy: "behind"`,
    `router id: ${id} modified: name mismatch. orig: "renamed", copy: "behind"`,
  ];
  t.same((await errors())?.toSorted(), expected.toSorted());
  t.same((await errors(true))?.toSorted(), expected.toSorted(), 'the repair reports what it repairs');
  t.same(await errors(), []);
  await identity('later');
  await until('the change', async () => (await errors())?.length === 0);
  const { results } = await management.validate('router-data-model', '', { validateCtrl: true });
  t.ok(results.every(({ validateSuccess }) => validateSuccess));
  management.close();
});

t.test('a terminator that another client took over is not judged by the answer of the first', async (t) => {
  await using network = await Network.start();
  const { management, host } = network;
  const headers = [
    [SdkHeader.SupportsInspect, TRUE],
    [SdkHeader.ListenerId, 'listener'],
  ] as const;
  await network.bind(host, headers);
  await until('its terminator', async () => (await network.terminators()).length === 3);
  const other = await network.connect();
  const questions: Message[] = [];
  network.onQuestion = (question) => void questions.push(question);
  const running = management.validateTerminators({ terminatorsFilter: 'binding = "edge"', fixInvalid: true });
  await until('the questions', () => questions.length === 2);
  await network.bind(other, headers);
  for (const question of questions) {
    const id = [SdkHeader.ConnectionId, question.headers.get(SdkHeader.ConnectionId) ?? ''] as const;
    const answer = new Message(SdkType.ConnectionInspectResponse, [id, [SdkHeader.ConnectionType, OTHER]], 'gone');
    host.channel.reply(question, answer);
  }
  const { results } = await running;
  const { UNKNOWN, INVALID_UNKNOWN_TERMINATOR } = TerminatorState;
  t.same(results.map(({ state }) => state).sort(), [UNKNOWN, INVALID_UNKNOWN_TERMINATOR]);
  const left = (await network.terminators()).filter(({ binding }) => binding === 'edge');
  t.same(
    left.map(({ id }) => id),
    [results.find(({ state }) => state === UNKNOWN)?.terminatorId],
  );
  other.close();
});
