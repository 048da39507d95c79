// Services that SDK clients host over the router: replaced and rejected binds, and dials to hosts.

import t from 'tap';
import { frameWithHeader } from '#wire/frame.ts';
import { PolicyType } from '#wire/gen/edge_control_pb.js';
import { EdgeErrorCode, PayloadFlag, RetryHint, SdkHeader, SdkType, XgressType } from '#wire/gen/numbers.ts';
import { encodeUint32, TRUE } from '#wire/header-values.ts';
import { asReply, type HeaderEntries, Message } from '#wire/message.ts';
import { Payload } from '#wire/xgress-frames.ts';
import { BIND_TOKEN, longConfig, type SdkRooms, sdkRooms, settled } from '../../../../test/support/rooms/sdk-rooms.ts';
import { TokenError } from '../../../access/tokens.ts';
import { dataHead } from '../clients/sdk-messages.ts';

t.test('a bind that replaces another one does not end hosting at the client', async (t) => {
  const { connect, hosting } = sdkRooms();
  const client = await connect();
  const bind = (id: number, headers: HeaderEntries) => client.ask(SdkType.Bind, id, headers, BIND_TOKEN);
  const closed = () => client.of(SdkType.StateClosed).map((message) => message.string(SdkHeader.StructuredError) ?? '');
  const listener = [[SdkHeader.ListenerId, 'listener']] as const;
  for (const id of [1, 2]) t.equal((await bind(id, listener)).contentType, SdkType.StateConnected);
  await settled();
  // The hint "not retriable" makes the Go SDK close its whole listener.
  t.match(
    closed().map((text) => JSON.parse(text)),
    [{ code: EdgeErrorCode.Internal, retryHint: RetryHint.Default }],
  );
  t.equal(hosting.count, 1);

  client.received.length = 0;
  for (const id of [3, 4]) t.equal((await bind(id, [])).contentType, SdkType.StateConnected);
  await settled();
  // A client without listener ids binds again after a close message, which would close the newer bind.
  t.same(closed(), []);
  t.equal(hosting.count, 2);
  const empty = [[SdkHeader.ListenerId, '']] as const;
  t.equal((await bind(5, empty)).contentType, SdkType.StateConnected);
  t.equal(hosting.count, 2, 'an empty listener id counts as none');
  client.channel.close();
});

t.test('a bind that takes over a terminator brings its own cost and precedence', async (t) => {
  const { connect, kept, changes } = sdkRooms();
  const client = await connect();
  const weight = (cost: number, precedence: number): HeaderEntries => [
    [SdkHeader.ListenerId, 'listener'],
    [SdkHeader.Cost, Buffer.of(cost, 0)],
    [SdkHeader.Precedence, Buffer.of(precedence)],
  ];
  await client.ask(SdkType.Bind, 1, weight(1, 0), BIND_TOKEN);
  const [id = ''] = kept.keys();
  t.same(changes, [], 'the request to create it has them');
  client.tell(SdkType.UpdateBind, 1, weight(100, 2), BIND_TOKEN);
  await settled();
  t.match(changes.splice(0), [{ id, cost: 100, precedence: 2 }]);
  await client.ask(SdkType.Bind, 2, weight(1, 0), BIND_TOKEN);
  t.match(changes.splice(0), [{ id, cost: 1, precedence: 0 }]);
  t.match(kept.get(id), { cost: 1, precedence: 'default' });
  await client.ask(SdkType.Bind, 3, weight(1, 0), BIND_TOKEN);
  t.same(changes, [], 'nothing to change');
  client.channel.close();
});

t.test('long texts of a host reach controllers and the log only in part', async (t) => {
  const { connect, hosting, kept } = sdkRooms();
  const client = await connect();
  await client.ask(SdkType.Bind, 1, [[SdkHeader.SupportsInspect, TRUE]], BIND_TOKEN);
  const text = 'x'.repeat(1_000_000);
  const rejected = dialHosted({ hosting, kept }).catch((error: Error) => error.message);
  await settled();
  client.channel.reply(client.of(SdkType.Dial)[0] as Message, new Message(SdkType.DialFailed, [], text));
  t.equal(((await rejected) as string).length, 1_000);
  const [terminatorId = ''] = kept.keys();
  const verdict = hosting.validate(terminatorId, false);
  await settled();
  const [question] = client.of(SdkType.ConnectionInspect) as [Message];
  client.channel.reply(question, new Message(SdkType.ConnectionInspectResponse, [], text));
  t.equal((await verdict)?.detail.length, 1_000);
  client.channel.close();
});

t.test('without a listener id, a bind replaces the one with the same token and instance', async (t) => {
  const { connect, hosting, kept } = sdkRooms();
  const client = await connect();
  const other: HeaderEntries = [[SdkHeader.TerminatorInstanceId, 'other']];
  for (const [id, headers] of [[1], [2, other], [3], [4]] as const)
    await client.ask(SdkType.Bind, id, headers, BIND_TOKEN);
  await settled();
  t.same([hosting.count, kept.size], [2, 2]);
  t.same(client.of(SdkType.StateClosed), [], 'the client would bind again');
  client.channel.close();
  await settled();
  t.same([hosting.count, kept.size], [0, 0]);
});

t.test('a bind that its client repeats under the same connection id replaces the one before', async (t) => {
  const { connect, hosting, kept, tokens } = sdkRooms();
  Object.assign(tokens, { service: async () => ({ sub: 'echo', z_st: 'Bind' }) });
  const client = await connect();
  const bind = async (cost: number, token: string, headers: HeaderEntries) => {
    const weight = [SdkHeader.Cost, Buffer.of(cost, 0)] as const;
    return (await client.ask(SdkType.Bind, 1, [...headers, weight], token)).contentType;
  };
  for (const headers of [[], [[SdkHeader.ListenerId, 'listener']]] as const) {
    t.equal(await bind(1, 'ey.first', headers), SdkType.StateConnected);
    t.equal(await bind(2, 'ey.first', headers), SdkType.StateConnected);
    await settled();
    t.same([hosting.count, [...kept.values()].map(({ cost }) => cost)], [1, headers.length === 0 ? [2] : [1]]);
    t.same(client.of(SdkType.StateClosed), [], 'a close message would end the newer bind');
    client.tell(SdkType.Unbind, 1, [], 'ey.first');
    await settled();
    t.same([hosting.count, kept.size], [0, 0]);
  }
  const listener: HeaderEntries = [[SdkHeader.ListenerId, 'listener']];
  await bind(1, 'ey.first', listener);
  const ids = [...kept.keys()];
  t.equal(await bind(2, 'ey.second', listener), SdkType.StateConnected, 'with the token of a new session');
  await settled();
  t.same([...kept.keys()], ids, 'it takes over the terminator');
  t.same(client.of(SdkType.StateClosed), []);
  t.equal((await client.ask(SdkType.Bind, 1, [], 'ey.third')).contentType, SdkType.StateClosed, 'another listener');
  client.tell(SdkType.Unbind, 1, [], 'ey.second');
  await settled();
  t.same([hosting.count, kept.size], [0, 0]);
  client.channel.close();
});

t.test('a host whose service session was removed gets the hint to start over', async (t) => {
  const { connect, hosting, removeServiceSession } = sdkRooms();
  const client = await connect();
  await client.ask(SdkType.Bind, 1, [], BIND_TOKEN);
  removeServiceSession(BIND_TOKEN);
  await settled();
  const [closed] = client.of(SdkType.StateClosed);
  t.equal(closed?.body.toString(), 'Invalid Session');
  const detail = { code: EdgeErrorCode.InvalidSession, retryHint: RetryHint.StartOver };
  t.match(JSON.parse(closed?.string(SdkHeader.StructuredError) ?? '{}'), detail);
  t.equal(hosting.count, 0);
  client.channel.close();
});

/** The Go SDK ignores a retry hint in the answer to a bind; it requests a new session if a confirmed bind is closed. */
t.test('a client that repeats a bind with the token of another session is told to start over', async (t) => {
  const { clock, connect, hosting, kept, tokens } = sdkRooms();
  const client = await connect();
  tokens.service = async () => Promise.reject(new TokenError('the service token belongs to another API session'));
  const headers: HeaderEntries = [[SdkHeader.SupportsBindSuccess, TRUE]];
  let id = 0;
  const answers = async (count: number, withHeaders = headers) => {
    const types: number[] = [];
    for (let sent = 0; sent < count; sent++)
      types.push((await client.ask(SdkType.Bind, ++id, withHeaders, BIND_TOKEN)).contentType);
    return types;
  };
  t.same(await answers(3, []), Array(3).fill(SdkType.StateClosed), 'clients without hints get plain rejections');
  t.same(await answers(2), Array(2).fill(SdkType.StateClosed), 'the data model may arrive');
  await clock.advance(1_000);
  t.same(await answers(2), [SdkType.StateConnected, SdkType.StateClosed]);
  await settled();
  const closed = client.of(SdkType.StateClosed);
  t.same(
    closed.map((message) => message.uint32(SdkHeader.ConnectionId)),
    [6],
  );
  t.match(JSON.parse(closed[0]?.string(SdkHeader.StructuredError) ?? '{}'), {
    code: EdgeErrorCode.InvalidSession,
    retryHint: RetryHint.StartOver,
  });
  t.equal(kept.size, 0, 'no terminator is requested');
  t.equal(hosting.count, 0);

  const storm = answers(1_000).catch(() => []);
  await clock.advance(10_000);
  t.ok(id < 200, `${id} binds in 10 s`);
  t.equal((await client.dial(5_000)).contentType, SdkType.StateConnected, 'requests that succeed are not delayed');
  client.channel.close();
  await storm;
});

/** Dials a hosted service, as a route does. */
function dialHosted({ hosting, kept }: Pick<SdkRooms, 'hosting' | 'kept'>) {
  const [terminatorId = ''] = kept.keys();
  return hosting.dial({
    ...{ circuitId: 'circuit', address: 'egress', destination: terminatorId, peerData: new Map(), timeLeft: 0 },
    ...{ tags: {}, owner: 'c', signal: new AbortController().signal },
  });
}

t.test('the end of a dial that a host accepted too late does not end the next dial of the circuit', async (t) => {
  const { clock, clients, connect, ends, forwarder, hosting, kept } = sdkRooms();
  const client = await connect();
  const headers = [[SdkHeader.RouterProvidedConnectionId, TRUE] as const, [SdkHeader.UseXgressToSdk, TRUE] as const];
  await client.ask(SdkType.Bind, 1, headers, BIND_TOKEN);
  const rejected = t.rejects(dialHosted({ hosting, kept }), /did not answer/);
  await settled();
  await clock.advance(5_001);
  await rejected;
  const second = dialHosted({ hosting, kept });
  await settled();
  const asked = client.of(SdkType.Dial);
  const ids = asked.map((dial) => dial.headers.get(SdkHeader.RouterProvidedConnectionId) ?? Buffer.alloc(0));
  /** Data that reaches the dialing end. */
  const arrived: string[] = [];
  forwarder.circuits.open('circuit', 'c', {}).forwards.set('egress', 'ingress');
  const acceptPayload = ({ data }: Payload) => arrived.push(data.toString()) > 0;
  const hop = { acceptAcknowledgement: () => true, acceptControl: () => true, onceWritable: () => undefined };
  forwarder.registerLink({ ...hop, acceptPayload, address: 'ingress' });
  for (const [index, dial] of asked.entries())
    client.channel.reply(dial, new Message(SdkType.DialSuccess, [], ids[index]));
  const dialed = await second;
  if ('relay' in dialed) dialed.relay.open(ends);
  const send = (id: Buffer | undefined, sequence: number, flags: number, data: string) => {
    const payload = Payload.create('circuit', sequence, flags | PayloadFlag.Originator, Buffer.from(data));
    const { head, body } = frameWithHeader(payload.bytes, SdkHeader.ConnectionId, id ?? Buffer.alloc(0));
    client.channel.lane().trySendFrame(head, body);
  };
  // The router told the client to close the first connection.
  send(ids[0], 0, PayloadFlag.CircuitEnd, 'end of the first dial');
  client.channel.send(new Message(XgressType.Close, [], 'circuit'));
  send(ids[1], 0, 0, 'data');
  await settled();
  t.same(arrived, ['data']);
  t.equal(clients.ends, 2, 'the service and its circuit');
  client.channel.send(new Message(XgressType.Close, [], 'circuit'));
  await settled();
  t.equal(clients.ends, 1);
  client.channel.close();
});

t.test('a host that receives data without a pause is dialed in time', async (t) => {
  const { clients, connect, hosting, kept } = sdkRooms();
  const client = await connect();
  await client.ask(SdkType.Bind, 1, [[SdkHeader.RouterProvidedConnectionId, TRUE]], BIND_TOKEN);
  const [connection] = clients.all();
  const data = Buffer.alloc(16_000);
  let left = 2_000;
  const nothing = () => undefined;
  const end = { connectionId: 7, onClosed: nothing, onLost: () => false, cut: nothing, onLinkWritable: send };
  function send() {
    while (left > 0 && connection?.trySendData(7, dataHead(7, data.length, undefined), data)) left--;
    if (left > 0) connection?.onceWritable(end);
  }
  send();
  const dial = dialHosted({ hosting, kept }).catch(() => undefined);
  for (let turn = 0; turn < 1_000 && client.of(SdkType.Dial).length === 0; turn++) await settled();
  const position = client.received.findIndex(({ contentType }) => contentType === SdkType.Dial);
  t.ok(position >= 0 && position < 500, `${position} data messages precede the dial`);
  client.channel.close();
  await dial;
});

t.test('a host that loses its access while it is dialed gets no circuit', async (t) => {
  for (const flowControl of [false, true]) {
    const { change, connect, hosting, kept, clients } = sdkRooms();
    const client = await connect();
    const headers: HeaderEntries = [
      [SdkHeader.RouterProvidedConnectionId, TRUE],
      ...(flowControl ? [[SdkHeader.UseXgressToSdk, TRUE] as const] : []),
    ];
    await client.ask(SdkType.Bind, 1, headers, BIND_TOKEN);
    const rejected = t.rejects(dialHosted({ hosting, kept }), /no bind policy/);
    await settled();
    change({ case: 'servicePolicy', value: { id: 'bind', policyType: PolicyType.DIAL_POLICY } });
    await settled();
    const [asked] = client.of(SdkType.Dial);
    const before = client.of(SdkType.StateClosed).length;
    client.channel.reply(asked as Message, new Message(SdkType.DialSuccess));
    await rejected;
    t.equal(clients.ends, 0);
    await settled();
    const closed = client.of(SdkType.StateClosed).slice(before);
    const connectionId = asked?.uint32(SdkHeader.RouterProvidedConnectionId);
    t.same(
      closed.map((message) => message.uint32(SdkHeader.ConnectionId)),
      [connectionId],
      'the host closes the connection that it has opened meanwhile',
    );
    client.channel.close();
  }
});

t.test('a client of 2022 that accepts a dial with an id in use learns that it has no circuit', async (t) => {
  const { connect, hosting, kept, clients } = sdkRooms();
  const client = await connect();
  await client.ask(SdkType.Bind, 1, [], BIND_TOKEN);
  const rejected = t.rejects(dialHosted({ hosting, kept }), /without a free connection id/);
  await settled();
  const [asked] = client.of(SdkType.Dial) as [Message];
  const accepted = asReply(asked, new Message(SdkType.DialSuccess, [], encodeUint32(1)));
  const answer = await client.channel.request(accepted, { timeout: 1_000 });
  t.equal(answer.contentType, SdkType.StateClosed);
  await rejected;
  t.equal(clients.ends, 1, 'it hosts on');
  client.channel.close();
});

t.test('a slow client receives the success of every bind', async (t) => {
  const { change, connect, kept } = sdkRooms();
  change(...longConfig());
  const client = await connect();
  const count = 500;
  for (let id = 1; id <= count; id++) {
    const headers = [[SdkHeader.SupportsBindSuccess, TRUE] as const, [SdkHeader.ListenerId, String(id)] as const];
    await client.ask(SdkType.Bind, id, headers, BIND_TOKEN);
  }
  client.channel.setReading(false);
  client.tell(SdkType.Subscribe, 0);
  await settled();
  for (const { established } of kept.values()) established?.();
  client.channel.setReading(true);
  for (let turn = 0; turn < 100 && client.of(SdkType.BindSuccess).length < count; turn++) await settled();
  t.equal(client.of(SdkType.BindSuccess).length, count);
  client.channel.close();
});
