// Messages of routers about themselves and their links, with the field numbers of the reference: hellos, links,
// metrics, verification of peers, online identities, sessions, certificates (reference fact: control channel, sections
// 2 to 4.2).

import { generateKeyPairSync } from 'node:crypto';
import t from 'tap';
import { encodeUint64 } from '#wire/header-values.ts';
import { Message } from '#wire/message.ts';
import { createCsr } from '../../../agent/identity/csr.ts';
import { type RawField, rawMessage, rawText, readRaw } from '../../../test/support/hostile/raw-protobuf.ts';
import { ControlRoom, type FakeRouter } from '../../../test/support/rooms/control-room.ts';
import { Body } from '../../entities/body.ts';
import { existing } from '../../entities/common.ts';
import { plainIdentity, removeIdentity } from '../../entities/identity.ts';
import { updateFabricRouter } from '../../entities/router.ts';
import { linkCost } from '../../network/links.ts';
import { sendMembers, sendServerHello } from './sync.ts';

const Type = {
  Result: 2,
  Fault: 1004,
  Metrics: 1007,
  Inspect: 1013,
  InspectAnswer: 1014,
  RouterLinks: 1035,
  VerifyRouter: 1036,
  Members: 1037,
  Decommission: 1043,
  PeerStateChanges: 1050,
  Interfaces: 1052,
  LinkState: 1053,
  RequestMembers: 1055,
  Listeners: 1056,
  ServerHello: 20000,
  ClientHello: 20001,
  Error: 20002,
  SessionRemoved: 20102,
  ApiSessionAdded: 20200,
  ApiSessionUpdated: 20201,
  ApiSessionRemoved: 20202,
  Heartbeat: 20203,
  Resync: 20204,
  ValidateSessions: 20213,
  Certificates: 20301,
  ExtendRouter: 20302,
  ExtendVerify: 20303,
  ConnectEvents: 20415,
  DataState: 20500,
  ChangeSet: 20501,
  Subscribe: 20505,
} as const;
const LINK_FAULT = 2;
const EMPTY = Buffer.alloc(0);

function texts(body: Buffer, field: number): string[] {
  return (readRaw(body).get(field) ?? []).map(String);
}

function send(room: ControlRoom, from: FakeRouter, type: number, ...fields: readonly RawField[]) {
  return room.receive(from, new Message(type, [], rawMessage(...fields)));
}

t.test('an edge router is synchronized by its answer to the server hello, and gets sessions and keys', async (t) => {
  using room = await ControlRoom.open();
  await room.addSessions('Dial', 'api-token', 'session-token');
  sendServerHello(room.r1.router);
  t.same(room.r1.of(Type.ServerHello)[0]?.headers.get(1024), Buffer.from([1]), 'the router data model is supported');
  const advertise = rawMessage([20, 'tls'], [30, 'edge.example'], [40, 3022]);
  const hello = rawMessage([1, 'v2.0.0'], [2, 'edge.example'], [10, rawMessage([20, advertise])]);
  const headers = [
    [1024, Buffer.from([1])],
    [1025, encodeUint64(0n)],
  ] as const;
  const answers = await room.receive(room.r1, new Message(Type.ClientHello, headers, hello));
  t.match(room.r1.router, {
    hostname: 'edge.example',
    syncStatus: 'SYNC_DONE',
    supportedProtocols: { tls: 'tls://edge.example:3022' },
  });
  t.same(
    answers.map(({ contentType }) => contentType),
    [Type.ChangeSet, Type.ApiSessionAdded],
  );
  const keys = readRaw(answers[0]?.body ?? EMPTY);
  t.same(keys.get(2), [1], 'the keys are a synthetic set');
  const [, sessions] = answers;
  t.equal(sessions?.string(1013), 'instant');
  t.match(JSON.parse(sessions?.string(1014) ?? ''), { isLast: true, sequence: 0 });
  t.same(readRaw(sessions?.body ?? EMPTY).get(1), [1], 'full state');
  t.same(texts(readRaw(sessions?.body ?? EMPTY).get(2)?.[0] as Buffer, 1), ['api-token']);
});

t.test('answers about sessions list the unknown ones only', async (t) => {
  using room = await ControlRoom.open();
  await room.addSessions('Dial', 'api-token', 'session-token');
  const [removed] = await send(room, room.r1, Type.Heartbeat, [1, 'api-token'], [1, 'gone'], [1, 'eyJhbGciOi']);
  t.equal(removed?.contentType, Type.ApiSessionRemoved);
  t.same(texts(removed?.body ?? EMPTY, 1), ['gone'], 'routers verify signed tokens themselves');
  t.same(await send(room, room.r1, Type.Heartbeat, [1, 'api-token']), []);
  const session = { id: 's1', serviceId: 'echo-id', identityId: 'client', apiSessionId: 'as1', type: 'Dial' } as const;
  const signed = await room.context.tokens.session({ ...session, isLegacy: false });
  const validated = await send(room, room.r1, Type.ValidateSessions, [1, 'session-token'], [1, signed], [1, 'gone']);
  t.same(
    validated.map(({ contentType, body }) => [contentType, texts(body, 1)]),
    [[Type.SessionRemoved, ['gone']]],
  );
  await room.addSessions('Dial', 'another-api-token', 'session-id');
  await room.change((transaction) => transaction.patch('session', 'session-id', { token: signed }));
  t.same(await send(room, room.r1, Type.ValidateSessions, [1, 'session-id']), [], 'newer routers send ids');
  const again = await send(room, room.r1, Type.Resync, [1, 'timeout']);
  t.same(
    again.map(({ contentType }) => contentType),
    [Type.ApiSessionAdded],
  );
});

t.test('routers learn of the certificates of a session that change', async (t) => {
  using room = await ControlRoom.open();
  await room.addSessions('Dial', 'api-token', 'session-token');
  room.r1.sent.length = 0;
  await room.change((transaction) => transaction.patch('apiSession', 'api-token', { lastActivityAt: transaction.now }));
  t.same(room.r1.sent, [], 'activity does not change routers');
  for (const fingerprints of [['one', 'two'], ['two']]) {
    await room.change((transaction) => transaction.patch('apiSession', 'api-token', { fingerprints }));
    const [updated, ...others] = room.r1.sent.splice(0);
    t.same([updated?.contentType, others.length], [Type.ApiSessionUpdated, 0]);
    t.same([updated?.string(1013), updated?.string(1014)], ['instant', '']);
    const session = readRaw(updated?.body ?? EMPTY).get(1)?.[0] as Buffer;
    t.same([texts(session, 1), texts(session, 2)], [['api-token'], fingerprints]);
  }
});

t.test('a subscription gets the whole data model, or the changes since its index', async (t) => {
  using room = await ControlRoom.open();
  const subscribe = (index: bigint, timeline: string) =>
    send(room, room.r1, Type.Subscribe, [1, index], [2, 300], [4, timeline], [5, 'sub1']);
  const [full, ...others] = await subscribe(0n, '');
  t.same([full?.contentType, full?.string(1026), others.length], [Type.DataState, 'sub1', 0]);
  const state = readRaw(full?.body ?? EMPTY);
  const [timeline, index] = [rawText(full?.body ?? EMPTY, 3), Number(state.get(2)?.[0])];
  t.equal(timeline, room.context.state.timeline);
  room.r1.sent.length = 0;
  await room.change((transaction) => transaction.patch('service', 'echo-id', { name: 'renamed' }));
  const [set] = room.r1.of(Type.ChangeSet);
  t.same(
    [set?.string(1026), readRaw(set?.body ?? EMPTY).get(5)],
    ['sub1', [index]],
    'previousIndex is the index before',
  );
  const missed = await subscribe(BigInt(index), timeline);
  t.same(
    missed.map(({ contentType, body }) => [contentType, body]),
    [[Type.ChangeSet, set?.body]],
  );
  const [other] = await subscribe(BigInt(index), 'another timeline');
  t.equal(other?.contentType, Type.DataState);
});

t.test('links: reports create, iterations replace, a full refresh removes, foreign reports are ignored', async (t) => {
  using room = await ControlRoom.open();
  const { links } = room.context.network;
  const link = (id: string, to: string, iteration: number) =>
    [1, rawMessage([1, id], [2, to], [3, 'tls'], [5, `tls:${to}:6000`], [6, iteration])] as const;
  await send(room, room.r2, Type.RouterLinks, link('l2', 'r1', 1));
  t.match(links.get('l2'), { source: 'r2', destination: 'r1', protocol: 'tls', dialAddress: 'tls:r1:6000' });
  await send(room, room.r1, Type.RouterLinks, link('l2', 'r3', 9));
  t.match(links.get('l2'), { source: 'r2', destination: 'r1', iteration: 1 }, 'an id belongs to its routers');
  await send(room, room.r2, Type.RouterLinks, link('l2', 'r1', 2), link('l3', 'r1', 1));
  t.equal(links.get('l2')?.iteration, 2);
  const connections = rawMessage([1, 5], [2, rawMessage([1, 'link.default'], [2, '10.0.0.1:1'], [3, '10.0.0.2:2'])]);
  await send(room, room.r2, Type.LinkState, [1, 'l2'], [2, 1], [3, connections]);
  t.same(links.get('l2')?.connections, [], 'of an older iteration');
  await send(room, room.r1, Type.LinkState, [1, 'l2'], [2, 2], [3, connections]);
  t.same(links.get('l2')?.connections, [], 'of the accepting router');
  await send(room, room.r2, Type.LinkState, [1, 'l2'], [2, 2], [3, connections]);
  t.match(links.get('l2')?.connections, [{ type: 'link.default', localAddr: '10.0.0.1:1' }]);
  const connection = [2, rawMessage([1, 'link.default'], [2, '10.0.0.1:1'], [3, '10.0.0.2:2'])] as const;
  const many = rawMessage([1, 6], ...Array.from({ length: 200 }, () => connection));
  await send(room, room.r2, Type.LinkState, [1, 'l2'], [2, 2], [3, many]);
  t.equal(links.get('l2')?.connections.length, 100, 'no link has as many connections');
  await send(room, room.r2, Type.RouterLinks, link('l2', 'r1', 2), [2, 1]);
  t.same([...links.values()].map(({ id }) => id).sort(), ['l1', 'l2'], 'l3 is missing; l1 is a link of r1');
});

t.test('a link with a text that no link has is ignored', async (t) => {
  using room = await ControlRoom.open();
  const { links } = room.context.network;
  const long = 'x'.repeat(2_000);
  const report = (id: string, address: string, connection: string) => {
    const state = rawMessage([1, 1], [2, rawMessage([1, 'single'], [2, connection], [3, 'c:1'])]);
    return send(room, room.r1, Type.RouterLinks, [
      1,
      rawMessage([1, id], [2, 'r2'], [3, 'tls'], [5, address], [7, state]),
    ]);
  };
  for (const [id, address] of [
    [long, 'tls:r2:1'],
    ['long', long],
  ] as const)
    await report(id, address, 'c:2');
  t.same(
    [...links.values()].map(({ id }) => id),
    ['l1'],
  );
  await report('l2', 'tls:r2:1', long);
  t.match(links.get('l2'), { dialAddress: 'tls:r2:1', connections: [] });
});

t.test('a link fault removes the link and reaches its other end, unless it is for an older iteration', async (t) => {
  using room = await ControlRoom.open();
  const { links } = room.context.network;
  Object.assign(links.get('l1') ?? {}, { iteration: 3 });
  await send(room, room.r1, Type.Fault, [1, LINK_FAULT], [2, 'l1'], [3, 2]);
  t.ok(links.get('l1'));
  await send(room, room.r2, Type.Fault, [1, LINK_FAULT], [2, 'l1'], [3, 3]);
  t.notOk(links.get('l1'));
  const [fault] = room.r1.of(Type.Fault);
  t.same([readRaw(fault?.body ?? EMPTY).get(1), texts(fault?.body ?? EMPTY, 2)], [[LINK_FAULT], ['l1']]);
  t.same(room.r2.of(Type.Fault), []);
});

t.test('latencies of both ends, with the time in queues, are the cost of a link', async (t) => {
  using room = await ControlRoom.open();
  const histogram = (name: string, milliseconds: number) =>
    [8, rawMessage([1, name], [2, rawMessage([1, 1], [3, { double: milliseconds * 1e6 }])])] as const;
  await send(
    room,
    room.r1,
    Type.Metrics,
    [2, 'r1'],
    histogram('link.l1.latency', 10),
    histogram('link.l1.queue_time', 2),
  );
  await send(room, room.r2, Type.Metrics, [2, 'r2'], histogram('link.l1.latency', 8), histogram('other', 9_000));
  const link = room.context.network.links.get('l1');
  t.equal(link && linkCost(link), 21, '1 + 12 + 8 ms');
  t.equal(room.events.filter(({ kind }) => kind === 'metrics').length, 2);
});

t.test('changed listeners of a router reach the other routers', async (t) => {
  using room = await ControlRoom.open();
  const recorded = Buffer.from('0a1b0a0b746c733a72313a363030301203746c73220764656661756c74', 'hex');
  await room.receive(room.r1, new Message(Type.Listeners, [], recorded));
  const [change] = room.r2.of(Type.PeerStateChanges);
  const peer = readRaw(change?.body ?? EMPTY).get(1)?.[0] as Buffer;
  t.same([rawText(peer, 1), readRaw(peer).get(3)], ['r1', undefined], 'r1 is healthy');
  t.same(readRaw(peer).get(4), readRaw(recorded).get(1), 'with the recorded listener tls:r1:6000');
  t.same(room.r1.of(Type.PeerStateChanges), []);
});

t.test('a peer is verified by its router id and fingerprint', async (t) => {
  using room = await ControlRoom.open();
  const verify = async (id: string, ...fingerprints: string[]) => {
    const fields = fingerprints.map((each) => [2, each] as const);
    const result = await room.ask(room.r1, Type.VerifyRouter, rawMessage([1, id], ...fields));
    return [result.contentType, result.bool(2)];
  };
  t.same(await verify('r2', 'other', 'fingerprint-r2'), [Type.Result, true]);
  t.same(await verify('r2', 'fingerprint-r1'), [Type.Result, false]);
  t.same(await verify('r9', 'fingerprint-r2'), [Type.Result, false]);
  await room.change((transaction) => transaction.patch('router', 'r2', { disabled: true }));
  t.same(await verify('r2', 'fingerprint-r2'), [Type.Result, false], 'disabled');
});

/** Adds identities with these ids. */
function addIdentities(room: ControlRoom, ...ids: string[]): Promise<void> {
  return room.change((transaction) => {
    for (const id of ids) transaction.put('identity', plainIdentity(transaction, id, id));
  });
}

t.test('identities are online while a router reports them; a full state replaces earlier reports', async (t) => {
  using room = await ControlRoom.open();
  await addIdentities(room, 'a', 'b');
  const event = (id: string, isConnected: number) => [1, rawMessage([1, id], [2, isConnected])] as const;
  await send(room, room.r1, Type.ConnectEvents, event('a', 1), event('b', 1));
  await send(room, room.r1, Type.ConnectEvents, event('a', 0));
  t.same([...room.r1.router.identities], ['b']);
  await send(room, room.r2, Type.ConnectEvents, event('a', 1));
  t.ok(room.context.network.isConnected('a'), 'at the other router');
  await room.receive(room.r1, new Message(Type.ConnectEvents, [], Buffer.from('1001', 'hex')));
  t.same([...room.r1.router.identities], [], 'an empty full state, as recorded');
  t.notOk(room.context.network.isConnected('b'));
});

t.test(
  'an event is published when an identity comes online at its first router or goes offline at its last',
  async (t) => {
    using room = await ControlRoom.open();
    await addIdentities(room, 'a', 'b');
    const report = (from: FakeRouter, id: string, isConnected: number) =>
      send(room, from, Type.ConnectEvents, [1, rawMessage([1, id], [2, isConnected])]);
    const published = () =>
      room.events
        .splice(0)
        .flatMap((event) =>
          event.kind === 'sdk' ? [`${event.identityId} ${event.isOnline ? 'online' : 'offline'}`] : [],
        );
    await report(room.r1, 'a', 1);
    await report(room.r1, 'b', 1);
    t.same(published(), ['a online', 'b online'], 'each once');
    await report(room.r2, 'a', 1);
    await report(room.r2, 'b', 0);
    await report(room.r1, 'a', 0);
    t.same(published(), [], 'the other router still has a connection of a; b had none there');
    const [a, b] = ['a', 'b'].map((id) => [1, rawMessage([1, id], [2, 1])] as const) as [RawField, RawField];
    await send(room, room.r1, Type.ConnectEvents, a, b, [2, 1]);
    t.same(published(), [], 'a full state without a change');
    room.context.network.detach(room.r1.router);
    t.same(published(), ['b offline'], 'the identities of a router that disconnects');
  },
);

t.test('reports of unknown identities are ignored; a deleted identity goes offline', async (t) => {
  using room = await ControlRoom.open();
  const unknown = Array.from({ length: 1_000 }, (_, index) => [1, rawMessage([1, `nobody${index}`], [2, 1])] as const);
  const known = [1, rawMessage([1, 'client'], [2, 1])] as const;
  const sdkEvents = () => room.events.splice(0).filter(({ kind }) => kind === 'sdk');
  const { network } = room.context;
  const lookups = t.capture(network, 'isConnected', network.isConnected);
  await send(room, room.r1, Type.ConnectEvents, ...unknown, known);
  t.equal(lookups().length, 2, 'only the known identity is looked up, before and after');
  t.same([...room.r1.router.identities], ['client']);
  t.same(sdkEvents(), [{ kind: 'sdk', identityId: 'client', isOnline: true }]);
  await room.change((transaction) => removeIdentity(transaction, 'client'));
  t.same([...room.r1.router.identities], []);
  t.same(sdkEvents(), [{ kind: 'sdk', identityId: 'client', isOnline: false }]);
});

t.test('a router that asks for its deletion is deleted and disconnected, without an answer', async (t) => {
  using room = await ControlRoom.open();
  t.same(await send(room, room.r2, Type.Decommission), []);
  const { router, terminator, identity } = room.context.state.tables;
  t.same([router.get('r2'), terminator.get('host'), identity.get('r2')], [undefined, undefined, undefined]);
  t.notOk(room.context.network.routers.has('r2'));
  t.ok(router.get('r1'));
  t.same(await send(room, room.r2, Type.Decommission), [], 'again');
});

t.test('a router that has very many tokens validated does not stop the controller', async (t) => {
  using room = await ControlRoom.open();
  const validate = (tokens: readonly string[]) => {
    const body = Buffer.concat(tokens.map((token) => rawMessage([1, token])));
    return room.receive(room.r1, new Message(Type.ValidateSessions, [], body));
  };
  const names = (prefix: string, count: number) => Array.from({ length: count }, (_, index) => `${prefix}${index}`);
  let isOver = false;
  const validated = validate(names('ey', 100)).finally(() => {
    isOver = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  t.notOk(isOver, 'other work continues meanwhile');
  t.equal(texts((await validated)[0]?.body ?? EMPTY, 1).length, 100);
  const [repeated] = await validate([...names('id', 3), ...names('id', 3)]);
  t.same(texts(repeated?.body ?? EMPTY, 1), ['id0', 'id1', 'id2']);
  await t.rejects(validate(names('ey', 100_001)), { name: 'ProtocolError' });
  const rest = validate(names('ey', 100));
  room.r1.router.channel.close();
  Object.assign(room.r1.router.channel, { isClosed: true });
  t.same(await rest, [], 'nobody waits for the answer');
});

t.test('members, interfaces and inspections are answered as the reference does', async (t) => {
  using room = await ControlRoom.open();
  sendMembers(room.context, room.r2.router);
  const [members, ...others] = await send(room, room.r1, Type.RequestMembers);
  t.same([members?.contentType, members?.replyFor, others.length], [Type.Members, undefined, 0], 'no reply');
  t.same(room.r2.of(Type.Members)[0]?.body, members?.body);
  const fields = readRaw(members?.body ?? EMPTY);
  t.same([texts(members?.body ?? EMPTY, 1), fields.get(2), fields.get(3)], [['tls:127.0.0.1:1280'], [1], [1]]);
  t.equal(rawText(fields.get(4)?.[0] as Buffer, 1), 'ctrl1');
  t.equal((await room.ask(room.r1, Type.Interfaces, '')).bool(2), true);
  const many = Buffer.alloc(1_000_000, rawMessage([1, rawMessage([1, 'eth0'])]));
  t.equal((await room.ask(room.r1, Type.Interfaces, many)).bool(2), false, '125,000 interfaces');
  const inspected = await room.ask(
    room.r1,
    Type.Inspect,
    rawMessage([1, 'capability'], [1, 'unknown'], [1, 'capability']),
  );
  t.equal(inspected.contentType, Type.InspectAnswer);
  const values = (readRaw(inspected.body).get(3) ?? []).map((each) => rawText(each as Buffer, 2));
  t.same(
    values.map((value) => JSON.parse(value)),
    [['ziti.fabric', 'ziti.edge']],
  );
});

t.test(
  'renewed certificates are valid once the router has confirmed them, or at once if it does not confirm',
  async (t) => {
    using room = await ControlRoom.open();
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const csr = createCsr('r1', { sans: { dns: [], ip: [], email: [], uri: [] } }, privateKey);
    const fingerprint = () => room.context.state.tables.router.get('r1')?.fingerprint;
    const extend = (verification: number) =>
      send(room, room.r1, Type.ExtendRouter, [1, csr], [2, csr], [3, verification]);
    const [certificates] = await extend(1);
    t.same([certificates?.contentType, certificates?.replyFor], [Type.Certificates, undefined], 'no reply');
    t.equal(fingerprint(), 'fingerprint-r1');
    const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
    for (const text of ['not the certificate', broken, room.context.authority.bundle]) {
      const wrong = await room.ask(room.r1, Type.ExtendVerify, rawMessage([1, text]));
      t.same([wrong.contentType, rawText(wrong.body, 1)], [Type.Error, 'INVALID_CLIENT_PEM'], text);
    }
    const empty = await room.ask(room.r1, Type.ExtendVerify, '');
    t.same([empty.contentType, rawText(empty.body, 1)], [Type.Error, 'MISSING_CLIENT_PEM']);
    t.equal(fingerprint(), 'fingerprint-r1');
    const right = await room.ask(room.r1, Type.ExtendVerify, rawMessage([1, rawText(certificates?.body ?? EMPTY, 1)]));
    t.same([right.contentType, rawText(right.body, 1)], [Type.Error, ''], 'an Error without a code is a success');
    const confirmed = fingerprint();
    t.match(confirmed, /^[0-9a-f]{40}$/);
    const again = await room.ask(room.r1, Type.ExtendVerify, rawMessage([1, rawText(certificates?.body ?? EMPTY, 1)]));
    t.equal(rawText(again.body, 1), 'INVALID_ROUTER_STATE', 'confirmed once');
    await extend(0);
    t.not(fingerprint(), confirmed);
    const [rejected] = await send(room, room.r1, Type.ExtendRouter, [1, 'broken'], [2, csr]);
    t.equal(rejected?.contentType, Type.Error);
  },
);

t.test('a router is disconnected when an administrator replaces its certificate, not when it renews it', async (t) => {
  using room = await ControlRoom.open();
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const csr = createCsr('r1', { sans: { dns: [], ip: [], email: [], uri: [] } }, privateKey);
  const { network, state } = room.context;
  const patch = (fingerprint: string) =>
    room.change((transaction) => {
      const router = existing(transaction, 'router', 'r1');
      updateFabricRouter(transaction, router, new Body({ fingerprint }, 'patch'));
    });
  await send(room, room.r1, Type.ExtendRouter, [1, csr], [2, csr]);
  const renewed = state.tables.router.get('r1')?.fingerprint ?? '';
  t.match(renewed, /^[0-9a-f]{40}$/);
  t.ok(network.routers.has('r1'));
  await patch(renewed);
  t.ok(network.routers.has('r1'), 'nothing changed');
  await patch('another');
  t.notOk(network.routers.has('r1'));
});

t.test('a router that has to enroll again meanwhile cannot renew its certificates', async (t) => {
  using room = await ControlRoom.open();
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const csr = createCsr('r1', { sans: { dns: [], ip: [], email: [], uri: [] } }, privateKey);
  const router = () => room.context.state.tables.router.get('r1');
  const invalidate = () =>
    room.change((transaction) => transaction.patch('router', 'r1', { fingerprint: null, certPem: null }));
  const extend = (verification: number) =>
    send(room, room.r1, Type.ExtendRouter, [1, csr], [2, csr], [3, verification]);
  const [[answer]] = await Promise.all([extend(0), invalidate()]);
  t.equal(answer?.contentType, Type.Error);
  t.match(router(), { fingerprint: null, certPem: null }, 'the renewal does not undo it');
  const [rejected] = await extend(1);
  t.equal(rejected?.contentType, Type.Error);
  t.match(router(), { fingerprint: null, certPem: null, unverifiedCertPem: undefined });
});
