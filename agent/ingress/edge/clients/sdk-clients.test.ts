// SDK clients at the router: the answers that they receive, and the limits that protect others from them.

import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import t from 'tap';
import type { Frame } from '#wire/frame.ts';
import { PostureStateChangeSchema, ServiceChangeSetSchema } from '#wire/gen/edge_client_pb.js';
import { ControlMessageType, EdgeErrorCode, RetryHint, SdkHeader, SdkType, XgressHeader } from '#wire/gen/numbers.ts';
import { encodeUint32, TRUE } from '#wire/header-values.ts';
import { Message } from '#wire/message.ts';
import type { Payload } from '#wire/xgress-frames.ts';
import {
  BIND_TOKEN,
  demandOf,
  longConfig,
  type Model,
  type RoomClient,
  sdkRooms,
  settled,
} from '../../../../test/support/rooms/sdk-rooms.ts';
import { traceRouteAnswer, traceRouteFrame } from '../../../forwarder/trace-route.ts';

t.test('an answer with a malformed request number does not throw into the link that delivers it', async (t) => {
  const { forwarder, connect } = sdkRooms();
  const client = await connect();
  const answer = await client.dial(1, [[SdkHeader.UseXgressToSdk, TRUE]]);
  t.equal(answer.contentType, SdkType.StateConnected, answer.body.toString());
  const circuitId = answer.string(SdkHeader.CircuitId) ?? '';
  for (const length of [0, 1, 3, 5]) {
    const headers = [[XgressHeader.UserValue, Buffer.alloc(length)]] as const;
    const frame = traceRouteFrame(ControlMessageType.TraceRouteResponse, circuitId, headers);
    t.doesNotThrow(() => forwarder.forwardControl(`${circuitId}-egress`, frame), `${length} bytes`);
  }
  client.channel.close();
});

t.test('a client with its own flow control gets the answer to its trace route, also an error', async (t) => {
  const { clock, connect, forwarder } = sdkRooms();
  const client = await connect();
  const circuitId = (await client.dial(1, [[SdkHeader.UseXgressToSdk, TRUE]])).string(SdkHeader.CircuitId) ?? '';
  const address = `${circuitId}-egress`;
  for (const error of [undefined, 'no route']) {
    const acceptControl = (question: Frame) => {
      const answer = traceRouteAnswer(question, { hopType: 'forwarder', hopId: 'r2', now: clock.now(), error });
      setImmediate(() => forwarder.forwardControl(address, answer));
      return true;
    };
    const hop = { acceptPayload: () => true, acceptAcknowledgement: () => true, onceWritable: () => undefined };
    forwarder.registerLink({ ...hop, acceptControl, address });
    const headers = [[XgressHeader.HopCount, encodeUint32(9)]] as const;
    const question = Message.fromFrame(traceRouteFrame(ControlMessageType.TraceRoute, circuitId, headers));
    const answer = await client.channel.request(question, { timeout: 10_000 });
    t.equal(answer.string(XgressHeader.HopId), 'r2');
    t.equal(answer.string(XgressHeader.Error), error);
  }
  client.channel.close();
});

t.test('a changed posture check repeats the states of all others: clients replace their whole state', async (t) => {
  const { change, connect } = sdkRooms();
  change(
    { case: 'postureCheck', value: { id: 'mac', subtype: { case: 'mac', value: { macAddresses: ['0123456789ab'] } } } },
    { case: 'postureCheck', value: { id: 'domain', subtype: { case: 'domains', value: { domains: ['here'] } } } },
    demandOf('dial', ['mac', 'domain']),
  );
  const client = await connect();
  client.tell(SdkType.Subscribe, 0);
  await settled();
  await client.report({ case: 'domain', value: { name: 'here' } });
  await client.report({ case: 'domain', value: { name: 'here' } });
  await client.report({ case: 'macs', value: { addresses: ['01:23:45:67:89:ab'] } });
  const states = client.of(SdkType.PostureStateChange).map((message) => {
    const { seq, checkStates, policyStates } = message.decode(PostureStateChangeSchema);
    return {
      seq,
      checks: Object.fromEntries(checkStates.map(({ checkId, isPassing }) => [checkId, isPassing])),
      policies: Object.fromEntries(policyStates.map(({ policyId, isPassing }) => [policyId, isPassing])),
    };
  });
  t.same(states, [
    { seq: 1n, checks: { mac: false, domain: false }, policies: { dial: false, bind: true } },
    { seq: 2n, checks: { mac: false, domain: true }, policies: { dial: false, bind: true } },
    { seq: 3n, checks: { mac: true, domain: true }, policies: { dial: true, bind: true } },
  ]);
  client.channel.close();
});

t.test('a client that asks for its state all the time is answered at a limited pace', async (t) => {
  const { clock, change, connect } = sdkRooms();
  change(demandOf('dial', []));
  const client = await connect();
  client.tell(SdkType.Subscribe, 0);
  await settled();
  const count = () => client.of(SdkType.PostureStateChange).length;
  for (let request = 0; request < 100; request++) {
    client.tell(SdkType.ResyncPosture, 0);
    await settled();
  }
  t.equal(count(), 20);
  await clock.advance(100);
  await settled();
  t.equal(count(), 21, 'one answer for all others');
  client.tell(SdkType.ResyncPosture, 0);
  client.tell(SdkType.ResyncPosture, 0);
  client.channel.close();
  await settled();
  t.notOk(clock.timers().includes('rights of an SDK client'));
});

t.test('a client learns a timeout beyond 68 years as one of 68 years', async (t) => {
  for (const timeoutSeconds of [3_153_600_000n, 9_223_372_036_854_775_807n]) {
    const { change, connect } = sdkRooms();
    const subtype = { case: 'mfa', value: { timeoutSeconds } } as const;
    change({ case: 'postureCheck', value: { id: 'mfa', subtype } }, demandOf('dial', ['mfa']));
    const client = await connect();
    client.tell(SdkType.Subscribe, 0);
    await settled();
    const [set] = client.of(SdkType.ServiceChangeSet);
    t.equal(set?.decode(ServiceChangeSetSchema).postureChecks[0]?.timeoutSeconds, 2_147_483_647);
    t.equal(client.of(SdkType.PostureStateChange).length, 1);
    client.channel.close();
  }
});

t.test('a subscribed client gets the full state if the history of the controllers has restarted', async (t) => {
  const { change, model, connect, restartHistory } = sdkRooms();
  change();
  const client = await connect();
  const rename = (name: string) => change({ case: 'service', value: { id: 'echo', name } });
  const first = model.index;
  client.tell(SdkType.Subscribe, 0);
  await settled();
  rename('second');
  await settled();
  restartHistory();
  await settled();
  rename('third');
  await settled();
  const sets = client.of(SdkType.ServiceChangeSet).map((message) => message.decode(ServiceChangeSetSchema));
  t.same(
    sets.map(({ index, previousIndex, services, policies }) => [
      index,
      previousIndex,
      services[0]?.name,
      policies.length,
    ]),
    [
      [first, -1n, 'echo', 2],
      [first + 1n, first, 'second', 0],
      [1n, -1n, 'echo', 2],
      [2n, 1n, 'third', 0],
    ],
  );
  client.channel.close();
});

t.test('the verification of a one-time password does not delay the other reports of its message', async (t) => {
  const { change, connect, tokens } = sdkRooms();
  change(
    { case: 'postureCheck', value: { id: 'domain', subtype: { case: 'domains', value: { domains: ['here'] } } } },
    demandOf('dial', ['domain']),
  );
  const client = await connect();
  const verified = Promise.withResolvers<number>();
  tokens.totp = () => verified.promise;
  const totp = { case: 'totpToken', value: { token: 'ey.totp' } } as const;
  await client.report(totp, { case: 'domain', value: { name: 'elsewhere' } });
  await client.report({ case: 'domain', value: { name: 'here' } });
  verified.resolve(0);
  await settled();
  t.equal((await client.dial(1)).contentType, SdkType.StateConnected);
  client.channel.close();
});

t.test('the messages that one client may send ahead of its blocked circuits are limited together', async (t) => {
  const { connect, forwarder, clients, ends, blockCircuits } = sdkRooms();
  const client = await connect();
  const ids = Array.from({ length: 8 }, (_, index) => index + 1);
  for (const id of ids) await client.dial(id);
  blockCircuits();
  /** Sends messages on all circuits until the router stops reading; returns how many it has read. */
  const fill = async (data: Buffer) => {
    let sent = 0;
    while (client.channel.lane().queued === 0 && sent < 100_000) {
      for (const id of ids) client.tell(SdkType.Data, id, [[SdkHeader.Flags, Buffer.alloc(4)]], data);
      sent += ids.length;
      await settled();
    }
    return sent;
  };
  const sent = await fill(Buffer.alloc(16_384));
  t.ok(sent < 200, `${sent} messages of 16 KiB`);
  for (const circuit of [...forwarder.circuits.values()]) forwarder.remove(circuit.id);
  await settled();
  t.equal(client.channel.lane().queued, 0, 'the router reads again once the circuits are gone');

  for (const id of ids) await client.dial(id + 8);
  client.channel.close();
  await settled();
  t.same([clients.count, ends.count], [0, 0]);
});

t.test('messages without data for a blocked circuit are limited, too', async (t) => {
  const { connect, forwarder, blockCircuits } = sdkRooms();
  const client = await connect();
  await client.dial(1);
  blockCircuits();
  let sent = 0;
  while (client.channel.lane().queued === 0 && sent < 20_000) {
    for (let count = 0; count < 100; count++) client.tell(SdkType.Data, 1, [[SdkHeader.Flags, Buffer.alloc(4)]]);
    sent += 100;
    await settled();
  }
  t.ok(sent < 10_000, `${sent} messages`);
  for (const circuit of [...forwarder.circuits.values()]) forwarder.remove(circuit.id);
  client.channel.close();
});

t.test('a connection that its client closes during the dial leaves no circuit', async (t) => {
  const { connect, forwarder, ends, controllerHolds } = sdkRooms();
  const client = await connect();
  const answered = Promise.withResolvers<void>();
  controllerHolds.push(answered.promise);
  // SDKs take an answer that they do not wait for as one to the new connection with this id.
  const unanswered = t.rejects(client.dial(1), { code: 'CLOSED' });
  await settled();
  client.tell(SdkType.StateClosed, 1);
  const second = client.dial(1);
  await settled();
  answered.resolve();
  t.equal((await second).contentType, SdkType.StateConnected, 'the id is free at once');
  t.equal(ends.count, 1);
  client.tell(SdkType.StateClosed, 1);
  await settled();
  t.equal(ends.count, 1, 'the circuit is complete when the host has received its end');
  for (const { id } of [...forwarder.circuits.values()]) forwarder.remove(id);
  t.equal(ends.count, 0);
  client.channel.close();
  await unanswered;
});

t.test('a dial is rejected if the controller removes the circuit together with its answer', async (t) => {
  const { connect, forwarder, ends, hooks } = sdkRooms();
  hooks.onCircuit = (circuitId) => void forwarder.remove(circuitId);
  const client = await connect();
  for (const headers of [[], [[SdkHeader.UseXgressToSdk, TRUE]]] as const) {
    const answer = await client.dial(1, headers);
    t.equal(answer.contentType, SdkType.StateClosed);
    t.match(answer.body.toString(), /removed/);
  }
  await settled();
  t.equal(ends.count, 0);
  t.same(client.received, [], 'the answer is the only message');
  client.channel.close();
});

const MFA = { timeoutSeconds: 0n, promptOnWake: true };

t.test('a one-time password that is entered in mid-session counts with the next token of the session', async (t) => {
  const { change, claims, connect, clock } = sdkRooms();
  change(
    { case: 'postureCheck', value: { id: 'mfa', name: 'one-time password', subtype: { case: 'mfa', value: MFA } } },
    demandOf('dial', ['mfa']),
  );
  const client = await connect();
  const rejected = await client.dial(1);
  t.equal(rejected.uint32(SdkHeader.ErrorCode), EdgeErrorCode.PostureCheckFailed);
  t.match(rejected.body.toString(), /: one-time password: the session has not passed its second factor$/);
  Object.assign(claims, { amr: ['pwd', 'totp'], auth_time: clock.now() / 1000 });
  t.equal((await client.ask(SdkType.UpdateToken, 0, [], 'ey.new')).contentType, SdkType.UpdateTokenSuccess);
  t.equal((await client.dial(1)).contentType, SdkType.StateConnected);
  client.channel.close();
});

t.test('posture belongs to the session: connections share it, and a new one does not evade a prompt', async (t) => {
  const { change, claims, connect, clock } = sdkRooms();
  change(
    { case: 'postureCheck', value: { id: 'mfa', subtype: { case: 'mfa', value: MFA } } },
    { case: 'postureCheck', value: { id: 'domain', subtype: { case: 'domains', value: { domains: ['here'] } } } },
    demandOf('dial', ['mfa', 'domain']),
  );
  Object.assign(claims, { amr: ['totp'], auth_time: clock.now() / 1000 });
  const failing = async (client: RoomClient) => {
    const answer = await client.dial(1);
    client.tell(SdkType.StateClosed, 1);
    if (answer.contentType === SdkType.StateConnected) return [];
    return JSON.parse(answer.string(SdkHeader.StructuredError) ?? '{}').failingPostureCheckIds;
  };
  const [first, second] = [await connect(), await connect()];
  await first.report({ case: 'domain', value: { name: 'here' } });
  t.same(await failing(second), [], 'the report of another connection counts');
  await clock.advance(60_000);
  await second.report({ case: 'woken', value: { time: timestampFromMs(clock.now()) } });
  await second.report({ case: 'woken', value: { time: timestampFromMs(0) } });
  await clock.advance(400_000);
  t.same(await failing(first), ['mfa'], 'the grace period is over');
  for (const { channel } of [first, second]) channel.close();
  await settled();
  const third = await connect();
  t.same(await failing(third), ['domain', 'mfa'], 'clients repeat reports, but not events');
  third.channel.close();
});

t.test('a report or a change that fails a posture check ends circuits and hosting at once', async (t) => {
  const { change, connect, ends, kept } = sdkRooms();
  const domains = (id: string, ...names: string[]): Model => ({
    case: 'postureCheck',
    value: { id, subtype: { case: 'domains', value: { domains: names } } },
  });
  change(domains('dialing', 'here', 'there'), domains('binding', 'here'));
  change(demandOf('dial', ['dialing']), demandOf('bind', ['binding']));
  const client = await connect();
  t.equal((await client.dial(1)).uint32(SdkHeader.ErrorCode), EdgeErrorCode.PostureCheckFailed, 'nothing is reported');
  await client.report({ case: 'domain', value: { name: 'here' } });
  t.equal((await client.dial(2)).contentType, SdkType.StateConnected);
  t.equal((await client.ask(SdkType.Bind, 3, [], BIND_TOKEN)).contentType, SdkType.StateConnected);
  t.same([ends.count, kept.size], [1, 1]);
  const closed = () =>
    client
      .of(SdkType.StateClosed)
      .map((each) => [each.uint32(SdkHeader.ConnectionId), each.uint32(SdkHeader.ErrorCode)]);

  await client.report({ case: 'domain', value: { name: 'there' } });
  t.same(closed(), [[3, EdgeErrorCode.PostureCheckFailed]], 'only what the policy of the check grants');
  t.same([ends.count, kept.size], [1, 0]);
  change(domains('dialing', 'here'));
  await settled();
  t.same(closed().at(-1), [2, EdgeErrorCode.PostureCheckFailed]);
  t.same([ends.count, kept.size], [0, 0]);
  client.channel.close();
});

t.test('a client loses its connection a few seconds after its token has expired', async (t) => {
  const { claims, clock, connect } = sdkRooms();
  Object.assign(claims, { exp: clock.now() / 1000 + 610 });
  const client = await connect();
  await clock.advance(609_000);
  await settled();
  t.notOk(client.channel.isClosed);
  await clock.advance(6_000);
  await settled();
  t.ok(client.channel.isClosed);
});

t.test('the newest of several tokens counts, in whatever order they are verified', async (t) => {
  const { clients, clock, connect, tokens } = sdkRooms();
  const { access } = tokens;
  const client = await connect();
  const verified = Promise.withResolvers<void>();
  tokens.access = async (token) => {
    const claims = await access(token);
    if (token === 'ey.newer') return { ...claims, iat: (claims.iat ?? 0) + 2 };
    await verified.promise;
    return { ...claims, iat: (claims.iat ?? 0) + 1, exp: (claims.iat ?? 0) + 60 };
  };
  const older = client.ask(SdkType.UpdateToken, 0, [], 'ey.older');
  t.equal((await client.ask(SdkType.UpdateToken, 0, [], 'ey.newer')).contentType, SdkType.UpdateTokenSuccess);
  verified.resolve();
  t.equal((await older).contentType, SdkType.UpdateTokenSuccess);
  await clock.advance(120_000);
  t.equal(clients.count, 1, 'the older token has expired');
  client.channel.close();
});

t.test('a client that asks for long answers and does not read them loses its connection', async (t) => {
  const { clock, change, clients, connect } = sdkRooms();
  change(...longConfig());
  const client = await connect();
  client.channel.setReading(false);
  for (let count = 0; count < 100; count++) {
    client.tell(SdkType.Subscribe, 0);
    await settled();
    await clock.advance(100); // until the next answer
  }
  t.equal(clients.count, 0);
  client.channel.close();
});

t.test('a client with many dials in progress keeps its circuits', async (t) => {
  const { connect, controllerHolds, ends } = sdkRooms();
  const client = await connect();
  t.equal((await client.dial(1)).contentType, SdkType.StateConnected);
  const answered = Promise.withResolvers<void>();
  controllerHolds.push(answered.promise);
  const dials = Array.from({ length: 1_500 }, (_, index) => client.dial(index + 2));
  const last = await dials.at(-1);
  t.match(JSON.parse(last?.string(SdkHeader.StructuredError) ?? '{}'), { retryHint: RetryHint.TooBusy });
  answered.resolve();
  const types = (await Promise.all(dials)).map(({ contentType }) => contentType);
  t.equal(types.filter((type) => type === SdkType.StateConnected).length, 1_000);
  t.equal(ends.count, 1_001);
  client.channel.close();
});

t.test('data that waited for a blocked circuit keeps its order when the router reads on', async (t) => {
  const { clock, connect, forwarder, blockCircuits } = sdkRooms();
  const client = await connect();
  await client.dial(1);
  blockCircuits();
  const count = 150;
  for (let index = 0; index < count; index++) {
    const data = Buffer.alloc(16_384);
    data.writeUInt32LE(index);
    client.tell(SdkType.Data, 1, [], data);
  }
  await settled();
  t.ok(client.channel.lane().queued > 0, 'the router has stopped reading');
  const received: number[] = [];
  const [circuit] = forwarder.circuits.values();
  const hop = { acceptAcknowledgement: () => true, acceptControl: () => true, onceWritable: () => undefined };
  const acceptPayload = ({ data }: Payload) => data.length < 4 || received.push(data.readUInt32LE()) > 0;
  forwarder.registerLink({ ...hop, acceptPayload, address: `${circuit?.id}-egress` });
  for (let turn = 0; turn < 20; turn++) {
    await clock.advance(100);
    await settled();
  }
  const inOrder = Array.from({ length: count }, (_, index) => index);
  t.same(received.slice(0, count), inOrder, 'before any retransmission');
  client.channel.close();
});

t.test('the circuits of one client are checked in several turns', async (t) => {
  const { clock, change, clients, connect, ends } = sdkRooms();
  const client = await connect();
  const other = await connect();
  const count = 100;
  for (let id = 1; id <= count; id++) await client.dial(id);
  await other.dial(1);
  let time = clock.monotonic();
  clock.monotonic = () => ++time;
  change(
    { case: 'postureCheck', value: { id: 'domain', subtype: { case: 'domains', value: { domains: ['here'] } } } },
    demandOf('dial', ['domain']),
  );
  const left: number[] = [];
  while (ends.count > 0) {
    await new Promise((resolve) => setImmediate(resolve));
    left.push(ends.count);
  }
  const max = Math.max(...left.map((each, index) => (left[index - 1] ?? count + 1) - each));
  t.ok(max <= 6, `at most ${max} circuits in one turn`);
  await settled();
  t.equal(client.of(SdkType.StateClosed).length, count);
  t.equal(other.of(SdkType.StateClosed).length, 1);
  t.equal(clients.ends, 0);
  for (const { channel } of [client, other]) channel.close();
});

t.test('a client that disconnects while its circuits are checked ends the checks', async (t) => {
  const { clock, change, clients, connect, ends } = sdkRooms();
  const client = await connect();
  for (let id = 1; id <= 100; id++) await client.dial(id);
  let time = clock.monotonic();
  clock.monotonic = () => ++time;
  change(demandOf('dial', ['missing']));
  await new Promise((resolve) => setImmediate(resolve));
  t.ok(ends.count > 0);
  clients.close();
  await settled();
  t.same([clients.count, ends.count], [0, 0]);
  const next = await connect();
  t.equal((await next.dial(1)).contentType, SdkType.StateClosed);
  next.channel.close();
});

t.test('one identity cannot have connections without end, whatever the number of its clients', async (t) => {
  const { clients, connect } = sdkRooms();
  const [first, second, third] = [await connect(), await connect(), await connect()];
  const dialAll = async (client: RoomClient, count: number) => {
    const answers: Message[] = [];
    for (let id = 1; id <= count; id += 500) {
      const ids = Array.from({ length: Math.min(500, count - id + 1) }, (_each, index) => id + index);
      answers.push(...(await Promise.all(ids.map((each) => client.dial(each, [[SdkHeader.UseXgressToSdk, TRUE]])))));
    }
    return answers.filter(({ contentType }) => contentType === SdkType.StateConnected).length;
  };
  const rejected = async (client: RoomClient, id: number, text: RegExp) => {
    for (const answer of [await client.dial(id), await client.ask(SdkType.Bind, id, [], BIND_TOKEN)]) {
      t.match(answer.body.toString(), text);
      const { code, retryHint } = JSON.parse(answer.string(SdkHeader.StructuredError) ?? '');
      t.same([code, retryHint], [EdgeErrorCode.Internal, RetryHint.TooBusy]);
    }
  };
  t.equal(await dialAll(first, 4_098), 4_096);
  await rejected(first, 5_000, /^the client has 4096 connections, the limit$/);
  t.equal(await dialAll(second, 4_000), 4_000);
  t.equal(await dialAll(third, 97), 96, 'all clients of the identity share 8,192');
  await rejected(third, 5_000, /^the clients of this identity have too many connections$/);
  t.equal(clients.ends, 8_192);
  first.tell(SdkType.StateClosed, 1);
  await settled();
  t.equal((await third.dial(5_000)).contentType, SdkType.StateConnected, 'a closed connection makes room');
  for (const client of [first, second]) client.channel.close();
  await settled();
  t.equal(await dialAll(third, 3_000), 2_904, 'and so does a client that disconnects');
  third.channel.close();
  await settled();
  t.equal(clients.ends, 0);
});

t.test('the circuits of one identity that nobody reads do not multiply their least shares', async (t) => {
  const { clock, connect, ends, blockCircuits } = sdkRooms();
  const clients = [await connect(), await connect()];
  const ids = Array.from({ length: 900 }, (_each, index) => index + 1);
  for (const client of clients) await Promise.all(ids.map((id) => client.dial(id)));
  blockCircuits();
  for (const client of clients) {
    for (const id of ids) client.tell(SdkType.Data, id, [], Buffer.alloc(60_000));
    await settled();
  }
  for (let turn = 0; turn < 20; turn++) {
    await clock.advance(100);
    await settled();
  }
  const held = ends.bufferedBytes / 2 ** 20;
  t.ok(held > 20 && held < 64, `${held.toFixed(1)} MiB`);
  ends.cut();
  t.equal(ends.bufferedBytes, 0);
  for (const client of clients) client.channel.close();
});
