// Messages about circuits, with the bytes and field numbers of the reference: requests of each kind of client, idle
// circuits, faults (reference fact: control channel, sections 1.9, 2 and 4.4 to 4.5).

import t from 'tap';
import { Frame } from '#wire/frame.ts';
import { encodeBytesMap, encodeUint32 } from '#wire/header-values.ts';
import { Message } from '#wire/message.ts';
import { rawMessage, rawText, readRaw } from '../../../test/support/hostile/raw-protobuf.ts';
import { ControlRoom, FakeRouter } from '../../../test/support/rooms/control-room.ts';

const Type = {
  CircuitRequest: 1000,
  CircuitSuccess: 1001,
  Fault: 1004,
  Route: 1005,
  Unroute: 1006,
  CircuitFailed: 1016,
  RouteResult: 1022,
  Confirmation: 1034,
  Error: 20002,
  V1: 20205,
  V1Answer: 20206,
  V2: 20218,
  V2Answer: 20219,
  Tunnel: 20220,
  TunnelAnswer: 20221,
  V3: 20222,
  V3Answer: 20223,
} as const;
/** Header of errors: code and retry hint. */
const CODE = 1014;
const HINT = 18;
const HOST_KEY = Buffer.alloc(32, 7);
const PUBLIC_KEY = 1003;
const STICKINESS = 1114;
/** Code of a rejected Route. */
const INVALID_TERMINATOR = 1;

/** Code, hint and text of an error. */
function errorOf(answer: Message): [code: number | undefined, hint: number | undefined, text: string] {
  return [answer.uint32(CODE), answer.uint32(HINT), answer.body.toString()];
}

t.test('a request of an older router (V1) gets a circuit with address, peer data and tags', async (t) => {
  using room = await ControlRoom.open();
  await room.addSessions('Dial', 'api-token', 'session-token');
  room.r2.answerRoute = () =>
    new Message(1022, [
      [1101, encodeUint32(0)],
      [1102, Buffer.from([1])],
      [PUBLIC_KEY, HOST_KEY],
      [1110, '10.0.0.1:80'],
    ]);
  const peerData = rawMessage([1, PUBLIC_KEY], [2, Buffer.alloc(32, 9)]);
  const request = rawMessage([1, 'session-token'], [2, 'aa'], [4, peerData], [5, 'api-token']);
  const answer = await room.ask(room.r1, Type.V1, request);
  t.equal(answer.contentType, Type.V1Answer);
  t.equal(answer.headers.get(1)?.readInt32LE(), 100, 'header 1 is the sequence of the request');
  const [circuit] = room.context.network.circuits.values();
  t.match(circuit, { clientId: 'client', serviceId: 'echo-id', terminatorId: 'host', path: { routers: ['r1', 'r2'] } });
  t.equal(rawText(answer.body, 1), circuit?.id);
  t.equal(rawText(answer.body, 2), circuit?.ingress);
  const entries = (readRaw(answer.body).get(3) ?? []).map((each) => readRaw(each as Buffer));
  t.same(
    entries.map((entry) => entry.get(1)),
    [[PUBLIC_KEY]],
    'without the addresses of the host',
  );
  t.same(entries[0]?.get(2), [HOST_KEY]);
  const tags = (readRaw(answer.body).get(4) ?? []).map((each) => [
    rawText(each as Buffer, 1),
    rawText(each as Buffer, 2),
  ]);
  t.same(Object.fromEntries(tags), { serviceId: 'echo-id', clientId: 'client', hostId: 'client' });
  const [route] = room.r2.of(Type.Route);
  const egress = readRaw(readRaw(route?.body ?? Buffer.alloc(0)).get(3)?.[0] as Buffer);
  t.same(egress.get(1)?.toString(), 'edge', 'the last router dials by the binding of the terminator');
});

t.test('requests of older routers (V1) are rejected with the code and the hint of the reference', async (t) => {
  using room = await ControlRoom.open();
  await room.addSessions('Dial', 'api-token', 'dial-token');
  await room.addSessions('Bind', 'other-api', 'bind-token');
  const cases: [request: Buffer, code: number, hint: number][] = [
    [rawMessage([1, 'dial-token'], [5, 'unknown']), 2, 2],
    [rawMessage([1, 'dial-token']), 2, 2],
    [rawMessage([1, 'unknown'], [5, 'api-token']), 3, 2],
    [rawMessage([1, 'dial-token'], [5, 'other-api']), 3, 2],
    [rawMessage([1, 'bind-token'], [5, 'other-api']), 4, 2],
  ];
  for (const [request, code, hint] of cases) {
    const answer = await room.ask(room.r1, Type.V1, request);
    t.equal(answer.contentType, Type.Error);
    t.same(errorOf(answer).slice(0, 2), [code, hint], answer.body.toString());
  }
  await room.change((transaction) => transaction.delete('serviceEdgeRouterPolicy', 'serp'));
  const request = rawMessage([1, 'dial-token'], [5, 'api-token']);
  t.same(errorOf(await room.ask(room.r1, Type.V1, request)).slice(0, 2), [5, 2], 'no policy permits the router');
  await room.change((transaction) => transaction.delete('service', 'echo-id'));
  t.same(errorOf(await room.ask(room.r1, Type.V1, request)).slice(0, 2), [6, 3], 'the service was deleted');
  t.equal(room.context.network.circuits.size, 0);
});

t.test('the recorded bytes of a V3 request reach the checks of the API session', async (t) => {
  using room = await ControlRoom.open();
  const recorded = Buffer.from(
    `0306090cfe4e00000b0000005600000000000000
     1100000000000000 0e000000020000006579 0c0000000a00000001000000020000006162
     0d00000000000000 0a0000000d00000001000000010000000100000009
     0f00000003000000696431 10000000020000007331`.replaceAll(/\s/g, ''),
    'hex',
  );
  const answers = await room.receive(room.r1, Message.fromFrame(new Frame(recorded)));
  t.same(answers.map(errorOf), [[2, 2, 'API session not found']], 'its token is `ey`');
});

t.test('a V3 request dials with an OIDC session, and may choose the id of the circuit', async (t) => {
  using room = await ControlRoom.open();
  const token = await room.accessToken();
  const headers = (changes: Record<number, string> = {}) =>
    Object.entries({ 14: token, 15: 'client', 16: 'echo-id', 17: 'my-circuit', ...changes }).map(
      ([key, value]) => [Number(key), value] as const,
    );
  const answer = await room.ask(room.r1, Type.V3, '', headers());
  t.equal(answer.contentType, Type.V3Answer);
  t.equal(answer.body.length, 0);
  t.equal(answer.string(11), 'my-circuit');
  t.equal(answer.string(12), room.context.network.circuits.get('my-circuit')?.ingress);
  t.same(answer.headers.get(10), Buffer.alloc(0), 'no peer data');
  t.equal(answer.headers.get(13)?.readUInt32LE(), 3, 'three tags');
  const cases: [changes: Record<number, string>, code: number, hint: number, name: string][] = [
    [{}, 1, 0, 'the id is in use'],
    [{ 15: 'r1', 17: '' }, 2, 2, 'the token is for another identity'],
    [{ 16: 'unknown', 17: '' }, 6, 3, 'unknown service'],
    [{ 14: await room.accessToken({ z_t: 'r', jti: 'j2' }), 17: '' }, 2, 2, 'a refresh token'],
    [{ 14: await room.accessToken({ exp: 1_000, jti: 'j3' }), 17: '' }, 2, 2, 'an expired token'],
  ];
  for (const [changes, code, hint, name] of cases)
    t.same(errorOf(await room.ask(room.r1, Type.V3, '', headers(changes))).slice(0, 2), [code, hint], name);
  await room.change((transaction) => transaction.delete('edgeRouterPolicy', 'erp'));
  t.same(errorOf(await room.ask(room.r1, Type.V3, '', headers({ 17: '' }))).slice(0, 2), [14, 0], 'no router policy');
  await room.change((transaction) => transaction.delete('servicePolicy', 'policy-Dial'));
  t.same(errorOf(await room.ask(room.r1, Type.V3, '', headers({ 17: '' }))).slice(0, 2), [6, 3], 'no service policy');
});

t.test('a session that lacks a second factor does not dial', async (t) => {
  using room = await ControlRoom.open();
  await room.addSessions('Dial', 'api-token', 'session-token');
  const headers = [
    [14, 'api-token'],
    [15, 'client'],
    [16, 'echo-id'],
  ] as const;
  const ask = () => room.ask(room.r1, Type.V3, '', headers);
  t.equal((await ask()).contentType, Type.V3Answer);
  const lacks = [{ isMfaRequired: true }, { isMfaRequired: false, requiredSignerId: 'signer' }];
  for (const each of lacks) {
    await room.change((transaction) => void transaction.patch('apiSession', 'api-token', each));
    t.same(errorOf(await ask()).slice(0, 2), [2, 2]);
  }
});

t.test('a V2 request dials with session tokens, legacy or signed, and passes peer data to the host', async (t) => {
  using room = await ControlRoom.open();
  await room.addSessions('Dial', 'api-token', 'session-token');
  const peerData = encodeBytesMap(new Map([[PUBLIC_KEY, HOST_KEY]]));
  const legacy = await room.ask(room.r1, Type.V2, '', [
    [11, 'session-token'],
    [14, 'api-token'],
    [10, peerData],
  ]);
  t.equal(legacy.contentType, Type.V2Answer);
  const [route] = room.r2.of(Type.Route);
  const egress = readRaw(route?.body ?? Buffer.alloc(0)).get(3)?.[0] as Buffer;
  t.same(readRaw(readRaw(egress).get(4)?.[0] as Buffer).get(2), [HOST_KEY]);
  const session = { id: 's1', serviceId: 'echo-id', identityId: 'client', apiSessionId: 'as1', type: 'Dial' } as const;
  const signed = await room.context.tokens.session({ ...session, isLegacy: false });
  const tokens = [
    [11, signed],
    [14, await room.accessToken()],
  ] as const;
  t.equal((await room.ask(room.r1, Type.V2, '', tokens)).contentType, Type.V2Answer);
  const foreign = await room.context.tokens.session({ ...session, id: 's2', apiSessionId: 'as2', isLegacy: false });
  const rejected = await room.ask(room.r1, Type.V2, '', [[11, foreign], tokens[1]]);
  t.same(errorOf(rejected).slice(0, 2), [3, 2], 'a session of another API session');
});

t.test('a signed session of a service does not dial once no policy grants the service', async (t) => {
  using room = await ControlRoom.open();
  const session = { id: 's1', serviceId: 'echo-id', identityId: 'client', apiSessionId: 'as1', type: 'Dial' } as const;
  const tokens = [
    [11, await room.context.tokens.session({ ...session, isLegacy: false })],
    [14, await room.accessToken()],
  ] as const;
  await room.change((transaction) => transaction.delete('servicePolicy', 'policy-Dial'));
  t.same(errorOf(await room.ask(room.r1, Type.V2, '', tokens)).slice(0, 2), [3, 2]);
});

t.test('the tunneler of a router dials a service by its name', async (t) => {
  using room = await ControlRoom.open();
  const answer = await room.ask(room.r1, Type.Tunnel, rawMessage([1, 'echo']));
  t.equal(answer.contentType, Type.TunnelAnswer);
  t.match(room.context.network.circuits.get(rawText(answer.body, 1)), { clientId: 'r1' });
  t.same(errorOf(await room.ask(room.r1, Type.Tunnel, rawMessage([1, 'unknown']))).slice(0, 2), [6, 3]);
  await room.change((transaction) => transaction.delete('identity', 'r1'));
  t.same(errorOf(await room.ask(room.r1, Type.Tunnel, rawMessage([1, 'echo']))).slice(0, 2), [7, 3]);
});

t.test('the tunneler of a router whose identity is disabled gets no circuit', async (t) => {
  using room = await ControlRoom.open();
  const ask = async () => {
    const answer = await room.ask(room.r1, Type.Tunnel, rawMessage([1, 'echo']));
    return answer.contentType === Type.TunnelAnswer ? 'a circuit' : errorOf(answer);
  };
  t.equal(await ask(), 'a circuit');
  const disabledUntil = new Date(room.clock.now() + 60_000).toISOString();
  await room.change((transaction) => transaction.patch('identity', 'r1', { disabled: true, disabledUntil }));
  t.same(await ask(), [7, 3, 'the identity of this router is disabled']);
  await room.clock.advance(60_001);
  t.equal(await ask(), 'a circuit', 'the time is over');
});

t.test('a listener without identities names the service by id or name; the answer is raw', async (t) => {
  using room = await ControlRoom.open();
  room.r2.answerRoute = () =>
    new Message(1022, [
      [1101, encodeUint32(0)],
      [1102, Buffer.from([1])],
      [PUBLIC_KEY, HOST_KEY],
    ]);
  for (const name of ['echo', 'echo-id']) {
    const answer = await room.ask(room.r1, Type.CircuitRequest, rawMessage([1, 'ingress'], [2, name]));
    t.equal(answer.contentType, Type.CircuitSuccess);
    const circuit = room.context.network.circuits.get(answer.body.toString());
    t.equal(answer.string(1100), circuit?.ingress);
    t.same(answer.headers.get(PUBLIC_KEY), HOST_KEY, 'each entry of the peer data is a header');
  }
  const failed = await room.ask(room.r1, Type.CircuitRequest, rawMessage([1, 'ingress'], [2, 'other@echo']));
  t.equal(failed.contentType, Type.CircuitFailed);
  t.match(failed.body.toString(), /no terminators for instanceId other/);
});

t.test('a circuit that routers reject is removed from them, and the client gets the error', async (t) => {
  using room = await ControlRoom.open();
  room.r2.answerRoute = () => {
    const recorded = `0306090cfe0300000a0000002100000002000000
      4d0400000400000001000000 4f04000004000000626f6f6d 500400000100000004 6331`;
    return Message.fromFrame(new Frame(Buffer.from(recorded.replaceAll(/\s/g, ''), 'hex')));
  };
  const [code, hint, text] = errorOf(
    await room.ask(room.r1, Type.Tunnel, rawMessage([1, 'echo'])).then((each) => each),
  );
  t.same([code, hint], [1, 0]);
  t.match(text, /exceeded maximum \[2\] retries.*boom/);
  t.equal(room.r2.of(Type.Route).length, 2, 'two attempts');
  t.equal(room.r1.of(Type.Unroute).length, 2, 'each is removed from the router that had accepted it');
  const dials = room.events.filter(({ kind }) => kind === 'service');
  t.match(dials[0], { type: 'service.dial.terminator.connection_refused' }, 'error code 4');
});

/** A rejection of a Route. */
function rejection(code: number): () => Message {
  const headers = [
    [1101, encodeUint32(0)],
    [1103, 'no such terminator'],
    [1104, Buffer.of(code)],
  ] as const;
  return () => new Message(1022, headers);
}

t.test('a terminator that its router does not have is deleted before the next attempt', async (t) => {
  using room = await ControlRoom.open();
  await room.addSessions('Dial', 'api-token', 'session-token');
  await room.change((transaction) => {
    transaction.patch('service', 'echo-id', { terminatorStrategy: 'sticky' });
    const host = transaction.get('terminator', 'host');
    if (host) transaction.put('terminator', { ...host, id: 'other', routerId: 'r1' });
  });
  room.r2.answerRoute = rejection(INVALID_TERMINATOR);
  const headers = [
    [11, 'session-token'],
    [14, 'api-token'],
    [10, encodeBytesMap(new Map([[STICKINESS, Buffer.from('host')]]))],
  ] as const;
  const answer = await room.ask(room.r1, Type.V2, '', headers);
  t.equal(answer.contentType, Type.V2Answer, answer.body.toString());
  t.equal(room.context.network.circuits.get(answer.string(11) ?? '')?.terminatorId, 'other');
  t.notOk(room.context.state.tables.terminator.get('host'));
});

t.test('only the router of a terminator can report that it does not have it', async (t) => {
  using room = await ControlRoom.open();
  room.r1.answerRoute = rejection(INVALID_TERMINATOR);
  await room.ask(room.r1, Type.Tunnel, rawMessage([1, 'echo']));
  await room.context.state.change(() => undefined);
  t.ok(room.context.state.tables.terminator.get('host'), 'of router r2');
});

t.test('a circuit ends if the answer to its request cannot be sent', async (t) => {
  using room = await ControlRoom.open();
  await room.addSessions('Dial', 'api-token', 'session-token');
  const tokens = [
    [11, 'session-token'],
    [14, 'api-token'],
  ] as const;
  room.r1.router.channel.reply = () => false;
  const requests = [
    new Message(Type.CircuitRequest, [], rawMessage([2, 'echo'])),
    new Message(Type.V1, [], rawMessage([1, 'session-token'], [5, 'api-token'])),
    new Message(Type.V2, tokens),
    new Message(Type.Tunnel, [], rawMessage([1, 'echo'])),
  ];
  for (const request of requests) {
    room.r2.sent.length = 0;
    await room.receive(room.r1, request);
    t.equal(room.context.network.circuits.size, 0);
    t.equal(room.r2.of(Type.Route).length, 1);
    t.equal(room.r2.of(Type.Unroute).length, 1, `request of type ${request.contentType}`);
  }
});

t.test('a router that has left the path of a circuit removes it', async (t) => {
  using room = await ControlRoom.open();
  const id = rawText((await room.ask(room.r1, Type.Tunnel, rawMessage([1, 'echo']))).body, 1);
  const r3 = new FakeRouter('r3', room.clock);
  const fault = new Message(Type.Fault, [], rawMessage([1, 3], [2, id]));
  const confirmation = new Message(Type.Confirmation, [], rawMessage([1, id]));
  for (const report of [fault, confirmation]) {
    room.context.network.attach(r3.router);
    r3.sent.length = 0;
    await room.receive(r3, report);
    t.same(
      r3.of(Type.Unroute).map(({ body }) => rawText(body, 1)),
      [id],
    );
  }
  await room.receive(room.r1, confirmation);
  t.same(room.r1.of(Type.Unroute), [], 'it is on the path');
  t.equal(room.context.network.circuits.get(id)?.state, 'up');
});

t.test('a router that answers a Route too late removes the circuit, unless it carries the circuit', async (t) => {
  using room = await ControlRoom.open();
  const result = (circuitId: string) => new Message(Type.RouteResult, [[1102, Buffer.of(1)]], circuitId);
  const answers = await room.receive(room.r2, result('abandoned'));
  t.same(
    answers.map(({ contentType, body }) => [contentType, rawText(body, 1), readRaw(body).get(2)]),
    [[Type.Unroute, 'abandoned', [1]]],
  );
  const id = rawText((await room.ask(room.r1, Type.Tunnel, rawMessage([1, 'echo']))).body, 1);
  t.same(await room.receive(room.r2, result(id)), [], 'of an earlier attempt');
});

t.test('idle circuits: unknown ones are removed at the router, those idle for too long at every router', async (t) => {
  using room = await ControlRoom.open();
  await room.change((transaction) => transaction.patch('service', 'echo-id', { maxIdleTimeMillis: 60_000 }));
  const id = rawText((await room.ask(room.r1, Type.Tunnel, rawMessage([1, 'echo']))).body, 1);
  const idle = (seconds: number) =>
    rawMessage([1, id], [2, rawMessage([1, id], [2, BigInt(seconds) * 1_000_000_000n])]);
  const [unroute, ...others] = await room.receive(room.r1, new Message(Type.Confirmation, [], rawMessage([1, 'gone'])));
  t.same([unroute?.contentType, others.length], [Type.Unroute, 0]);
  t.same(
    [rawText(unroute?.body ?? Buffer.alloc(0), 1), readRaw(unroute?.body ?? Buffer.alloc(0)).get(2)],
    ['gone', [1]],
  );
  await room.receive(room.r1, new Message(Type.Confirmation, [], idle(59)));
  t.equal(room.context.network.circuits.size, 1, 'below the limit of the service');
  await room.receive(room.r1, new Message(Type.Confirmation, [], idle(60)));
  t.equal(room.context.network.circuits.size, 0);
  t.equal(room.r2.of(Type.Unroute).length, 1);
});

t.test('a router that does not read its messages is not told of further unknown circuits', async (t) => {
  using room = await ControlRoom.open();
  let tried = 0;
  room.r1.router.channel.trySend = () => ++tried < 3;
  const fault = rawMessage([1, 3], [2, 'a b c d e']);
  await room.receive(room.r1, new Message(Type.Fault, [], fault));
  t.equal(tried, 3, 'forward faults');
  tried = 0;
  const circuits = ['a', 'b', 'c', 'd', 'e'].map((id) => [1, id] as const);
  await room.receive(room.r1, new Message(Type.Confirmation, [], rawMessage(...circuits)));
  t.equal(tried, 3, 'circuits without traffic');
});

t.test(
  'faults: the end of one side removes a circuit, a forward fault moves a known and removes an unknown circuit',
  async (t) => {
    using room = await ControlRoom.open();
    const { network } = room.context;
    const dial = async () => rawText((await room.ask(room.r1, Type.Tunnel, rawMessage([1, 'echo']))).body, 1);
    const fault = (from: typeof room.r1, subject: number, id: string) =>
      room.receive(from, new Message(Type.Fault, [], rawMessage([1, subject], [2, id])));
    const { INGRESS, EGRESS, FORWARD, UNKNOWN_OWNER } = { INGRESS: 0, EGRESS: 1, FORWARD: 3, UNKNOWN_OWNER: 4 };
    for (const subject of [INGRESS, EGRESS]) {
      const id = await dial();
      await fault(room.r1, subject, id);
      t.equal(network.circuits.size, 0);
      const body = room.r2.of(Type.Unroute).at(-1)?.body ?? Buffer.alloc(0);
      t.same([rawText(body, 1), readRaw(body).get(2)], [id, undefined], 'the router may still deliver: now is false');
    }
    const [unroute] = await fault(room.r1, FORWARD, 'unknown1');
    t.equal(rawText(unroute?.body ?? Buffer.alloc(0), 1), 'unknown1');
    t.same(await fault(room.r1, UNKNOWN_OWNER, 'unknown2'), [], 'another controller may own it');
    const id = await dial();
    room.r1.sent.length = 0;
    await fault(room.r1, FORWARD, `unknown3 ${id}`);
    await new Promise((resolve) => setImmediate(resolve));
    t.equal(room.r1.of(Type.Route).length, 1, 'the known circuit is routed again');
    t.equal(readRaw(room.r1.of(Type.Route)[0]?.body ?? Buffer.alloc(0)).get(2)?.[0], 99_969_996, 'as attempt 99969996');
    t.match(network.circuits.get(id), { state: 'up' });
    network.attach({ ...room.r1.router, id: 'r3' });
    await room.receive(
      Object.assign(Object.create(room.r1), { router: { ...room.r1.router, id: 'r3' } }),
      new Message(Type.Fault, [], rawMessage([1, INGRESS], [2, id])),
    );
    t.equal(network.circuits.size, 1, 'a router reports only circuits that run through it');
  },
);
