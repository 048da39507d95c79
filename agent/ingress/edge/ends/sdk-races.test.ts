// SDK clients that close, repeat or flood at a bad moment: while a right is checked, a host is dialed, a circuit ends,
// or the client does not read. Nothing remains, and the client's other circuits continue.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import t from 'tap';
import {
  ChannelHeader,
  ChannelType,
  ControlMessageType,
  PayloadFlag,
  SdkHeader,
  SdkType,
  XgressHeader,
} from '#wire/gen/numbers.ts';
import { encodeUint32, TRUE } from '#wire/header-values.ts';
import { type HeaderEntries, Message } from '#wire/message.ts';
import { Payload } from '#wire/xgress-frames.ts';
import {
  BIND_TOKEN,
  type RoomClient,
  type SdkRooms,
  sdkRooms,
  settled,
} from '../../../../test/support/rooms/sdk-rooms.ts';
import { TokenError } from '../../../access/tokens.ts';
import { defaultXgressOptions } from '../../../config/xgress-defaults.ts';
import type { DialedEgress, DialedRelay } from '../../../egress/egress.ts';
import { PayloadOrigin } from '../../../forwarder/destination.ts';
import { traceRouteFrame } from '../../../forwarder/trace-route.ts';
import { dataHead } from '../clients/sdk-messages.ts';

const OWN_IDS: HeaderEntries = [[SdkHeader.RouterProvidedConnectionId, TRUE]];
const HOP = {
  acceptPayload: (_payload: Payload) => true,
  acceptAcknowledgement: () => true,
  acceptControl: () => true,
  onceWritable: () => undefined,
};
/** More than a client may send ahead of one circuit, in messages of this size. */
const MANY = 80;
const LARGE = Buffer.alloc(16_000);
const LARGE_QUESTION = Buffer.alloc(1_000_000);

interface Dialing {
  client: RoomClient;
  dialed: Promise<DialedEgress | DialedRelay>;
  /** The router's question to the host. */
  question: Message;
  connectionId: number;
}

/** The router dials a host that has not answered yet. */
async function dialHost(rooms: SdkRooms, headers: HeaderEntries = OWN_IDS): Promise<Dialing> {
  const client = await rooms.connect();
  await client.ask(SdkType.Bind, 1, headers, BIND_TOKEN);
  const [terminatorId = ''] = rooms.kept.keys();
  const dialed = rooms.hosting.dial({
    ...{ circuitId: 'circuit', address: 'egress', destination: terminatorId, peerData: new Map(), timeLeft: 0 },
    ...{ tags: {}, owner: 'c', signal: new AbortController().signal },
  });
  dialed.catch(() => undefined); // the test awaits it later
  await settled();
  const [question] = client.of(SdkType.Dial) as [Message];
  const connectionId = question.headers.get(SdkHeader.RouterProvidedConnectionId)?.readUInt32LE() ?? 0;
  return { client, dialed, question, connectionId };
}

/** Fills the data lane of the only client, which does not read. */
async function fillDataLane(rooms: SdkRooms): Promise<void> {
  const [connection] = rooms.clients.all();
  for (let turn = 0; turn < 20; turn++) {
    while (connection?.trySendData(7, dataHead(7, LARGE.length, undefined), LARGE));
    await settled();
  }
}

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Bytes of all buffers in use. Memory that nobody uses is returned a little later. */
async function bufferMemory(): Promise<number> {
  let min = Number.POSITIVE_INFINITY;
  for (let turn = 0; turn < 10; turn++) {
    collectGarbage();
    await settled();
    min = Math.min(min, process.memoryUsage().arrayBuffers);
  }
  return min;
}

/** The type of an answer, or `none` if it does not arrive without further delay. */
function promptly(answer: Promise<Message>): Promise<number | 'none'> {
  const type = answer.then(
    ({ contentType }) => contentType,
    () => 'none' as const,
  );
  return Promise.race([type, settled().then(() => 'none' as const)]);
}

t.test('data that a host sends before its dial fails does not stop its other circuits', async (t) => {
  const rooms = sdkRooms();
  const { client, dialed, connectionId } = await dialHost(rooms);
  for (let count = 0; count < MANY; count++) client.tell(SdkType.Data, connectionId, [], LARGE);
  await settled();
  await rooms.clock.advance(5_001);
  await t.rejects(dialed);
  t.equal(await promptly(client.dial(2)), SdkType.StateConnected);
  client.channel.close();
});

t.test('an accepted dial that is abandoned after the host closed it leaves no end', async (t) => {
  const rooms = sdkRooms();
  const { client, dialed, question, connectionId } = await dialHost(rooms);
  client.channel.reply(question, new Message(SdkType.DialSuccess));
  client.tell(SdkType.Data, connectionId, [], 'x');
  client.tell(SdkType.StateClosed, connectionId);
  (await dialed).abandon();
  await settled();
  t.equal(rooms.clients.ends, 1, 'only the service');
  client.channel.close();
});

t.test('data of a host that answers a dial, sends and closes at once arrives', async (t) => {
  const rooms = sdkRooms();
  const { forwarder, ends, clock } = rooms;
  const { client, dialed, question, connectionId } = await dialHost(rooms);
  let arrived = '';
  forwarder.circuits.open('circuit', 'c', {}).forwards.set('egress', 'ingress').set('ingress', 'egress');
  forwarder.registerLink({
    ...HOP,
    address: 'ingress',
    acceptPayload: ({ data }) => {
      arrived += data.toString();
      return true;
    },
  });
  client.channel.reply(question, new Message(SdkType.DialSuccess));
  client.tell(SdkType.Data, connectionId, [], 'answer');
  client.tell(SdkType.StateClosed, connectionId);
  const { client: host } = (await dialed) as DialedEgress & { client: { attach(xgress: unknown): void } };
  const init = { circuitId: 'circuit', address: 'egress', role: 'terminator', hopType: 'test' } as const;
  const xgress = ends.open({ ...init, options: defaultXgressOptions() }, host, 'c');
  host.attach(xgress);
  xgress.start();
  await settled();
  const start = Payload.create('circuit', 0, PayloadFlag.CircuitStart, Buffer.alloc(0));
  forwarder.forwardPayload('ingress', start, PayloadOrigin.Forwarded);
  for (let turn = 0; turn < 20; turn++) {
    await clock.advance(100);
    await settled();
  }
  t.match(arrived, /^(answer)+$/, 'with retransmissions: nothing is acknowledged');
  client.channel.close();
});

t.test('an abandoned dial of a host with its own flow control is not a fault of the circuit', async (t) => {
  const rooms = sdkRooms();
  const { client, dialed, question } = await dialHost(rooms, [...OWN_IDS, [SdkHeader.UseXgressToSdk, TRUE]]);
  client.channel.reply(question, new Message(SdkType.DialSuccess));
  (await dialed).abandon();
  await settled();
  t.same(rooms.sent, []);
  t.equal(rooms.clients.ends, 1, 'only the service');
  client.channel.close();
});

t.test('a late answer to an inspection does not remove another end with the same id', async (t) => {
  const rooms = sdkRooms();
  const client = await rooms.connect();
  await client.ask(SdkType.Bind, 5, [[SdkHeader.SupportsInspect, TRUE]], BIND_TOKEN);
  for (const { established } of rooms.kept.values()) established?.();
  await settled();
  const [question] = client.of(SdkType.ConnectionInspect) as [Message];
  client.tell(SdkType.Unbind, 5, [], BIND_TOKEN);
  t.equal((await client.dial(5)).contentType, SdkType.StateConnected);
  const notBind: HeaderEntries = [[SdkHeader.ConnectionType, Buffer.of(1)]];
  client.channel.reply(question, new Message(SdkType.ConnectionInspectResponse, notBind));
  await settled();
  t.equal(rooms.clients.ends, 1, 'the dialed connection');
  client.channel.close();
  await settled();
  t.equal(rooms.ends.count, 0);
});

t.test('a bind that its client closes while its token is checked hosts nothing', async (t) => {
  for (const type of [SdkType.StateClosed, SdkType.Unbind]) {
    const rooms = sdkRooms();
    const client = await rooms.connect();
    const checked = Promise.withResolvers<void>();
    const { service } = rooms.tokens;
    rooms.tokens.service = async (...given) => {
      await checked.promise;
      return service(...given);
    };
    const unanswered = t.rejects(client.ask(SdkType.Bind, 5, [], BIND_TOKEN), { code: 'CLOSED' });
    client.tell(type, 5, [], BIND_TOKEN);
    await settled();
    checked.resolve();
    await settled();
    t.same([rooms.hosting.count, rooms.kept.size, rooms.clients.ends], [0, 0, 0]);
    t.equal((await client.ask(SdkType.Bind, 5, [], BIND_TOKEN)).contentType, SdkType.StateConnected, 'a later bind');
    client.channel.close();
    await unanswered;
  }
});

t.test('answers reach a client whose data fills its connection', async (t) => {
  const questions: [type: number, body: string, answer: number][] = [
    [SdkType.UpdateToken, 'ey.new', SdkType.UpdateTokenSuccess],
    [SdkType.UpdateToken, 'opaque', SdkType.UpdateTokenFailure],
    [ChannelType.Latency, '', ChannelType.Result],
    [ChannelType.Ping, '', ChannelType.Result],
  ];
  for (const [type, body, expected] of questions) {
    const rooms = sdkRooms();
    const client = await rooms.connect();
    client.channel.setReading(false);
    await fillDataLane(rooms);
    const answer = client.ask(type, 0, [], body);
    await settled();
    client.channel.setReading(true);
    t.equal((await answer).contentType, expected);
    client.channel.close();
  }
});

t.test('a client with as many dials in progress as possible may still report its posture', async (t) => {
  const rooms = sdkRooms();
  const client = await rooms.connect();
  t.equal((await client.dial(1)).contentType, SdkType.StateConnected);
  const answered = Promise.withResolvers<void>();
  rooms.controllerHolds.push(answered.promise);
  const dials = Array.from({ length: 1_000 }, (_, index) => client.dial(index + 2).catch(() => undefined));
  await settled();
  await client.report({ case: 'woken', value: { time: timestampFromMs(0) } });
  t.equal(rooms.clients.count, 1);
  answered.resolve();
  client.channel.close();
  await Promise.all(dials);
});

t.test('long requests of a client wait for a slow controller only up to a limit', async (t) => {
  const rooms = sdkRooms();
  const client = await rooms.connect();
  const answered = Promise.withResolvers<void>();
  rooms.controllerHolds.push(answered.promise);
  const service: HeaderEntries = [[SdkHeader.ServiceIdentifier, 'echo']];
  const dials = Array.from({ length: 40 }, (_, id) => client.ask(SdkType.ConnectV2, id, service, LARGE_QUESTION));
  await settled();
  answered.resolve();
  const answers = await Promise.all(dials);
  const rejected = answers.filter(({ contentType }) => contentType === SdkType.StateClosed);
  t.equal(rejected.length, 23);
  t.match(rejected[0]?.body.toString(), /requests in progress/);
  t.equal(await promptly(client.dial(100)), SdkType.StateConnected);
  client.channel.close();
});

t.test('a client whose rejections are delayed may still dial', async (t) => {
  const rooms = sdkRooms();
  const client = await rooms.connect();
  rooms.tokens.service = async () => Promise.reject(new TokenError('invalid'));
  const bind = (id: number) => client.ask(SdkType.Bind, id, [], BIND_TOKEN).catch(() => undefined);
  const binds = Array.from({ length: 1_400 }, (_, index) => index + 10).map(bind);
  await settled();
  t.equal((await client.dial(1)).contentType, SdkType.StateConnected);
  client.channel.close();
  await Promise.all(binds);
});

t.test('answers that wait do not keep the memory of their requests', async (t) => {
  const rooms = sdkRooms();
  const client = await rooms.connect();
  rooms.tokens.service = async () => Promise.reject(new TokenError('invalid'));
  for (let id = 0; id < 100; id++) client.tell(SdkType.Bind, id, [], BIND_TOKEN); // answered at once
  await settled();
  const before = await bufferMemory();
  for (let id = 100; id < 140; id++) {
    client.tell(SdkType.Bind, id, [[ChannelHeader.Correlation, 'x']], `ey${'x'.repeat(1_000_000)}`);
    await settled();
  }
  t.equal(client.of(SdkType.StateClosed).length, 100, 'the others wait');
  client.channel.setReading(false);
  await fillDataLane(rooms);
  for (let count = 0; count < 40; count++) {
    client.tell(SdkType.TraceRoute, 1, [[SdkHeader.TraceTimestamp, Buffer.alloc(8)]], LARGE_QUESTION);
    await settled();
  }
  const kept = (await bufferMemory()) - before;
  t.ok(kept < 40_000_000, `${kept} bytes of 80 requests of 1 MB`);
  client.channel.close();
});

t.test('a dial whose service session is removed while the controller answers is rejected', async (t) => {
  const rooms = sdkRooms();
  const client = await rooms.connect();
  const answered = Promise.withResolvers<void>();
  rooms.controllerHolds.push(answered.promise);
  const dialing = client.ask(SdkType.Connect, 1, [], 'ey.dial');
  await settled();
  rooms.removeServiceSession('ey.dial');
  await settled();
  answered.resolve();
  const answer = await dialing;
  t.equal(answer.contentType, SdkType.StateClosed);
  t.match(answer.string(SdkHeader.StructuredError), /the session was removed/);
  client.channel.close();
});

t.test('a terminator that another client takes over belongs to the controller of that client', async (t) => {
  const rooms = sdkRooms();
  Object.assign(rooms.components.controllers, { byId: (id: string) => ({ id }) });
  const clients = [await rooms.connect(), await rooms.connect()];
  for (const [index, connection] of [...rooms.clients.all()].entries())
    connection.session = { ...connection.session, claims: undefined, controllerId: `c${index + 1}` };
  for (const each of clients) await each.ask(SdkType.Bind, 1, [[SdkHeader.ListenerId, 'listener']], BIND_TOKEN);
  t.same(
    [...rooms.kept.values()].map(({ controller }) => controller()?.id),
    ['c2'],
  );
  for (const { channel } of clients) channel.close();
});

t.test('of many results of a health check, the controller gets few, and the last', async (t) => {
  const rooms = sdkRooms();
  const client = await rooms.connect();
  await client.ask(SdkType.Bind, 1, [], BIND_TOKEN);
  for (let count = 0; count < 5_000; count++)
    client.tell(SdkType.HealthEvent, 1, count === 4_999 ? [[SdkHeader.HealthStatus, TRUE]] : [], BIND_TOKEN);
  for (let turn = 0; turn < 100; turn++) await settled();
  t.equal(rooms.sent.length, 10);
  await rooms.clock.advance(1_000);
  const results = rooms.sent.map(({ body }) => Buffer.from(body).toString('latin1'));
  t.equal(results.length, 11);
  t.not(results.at(-1), results.at(-2), 'the check passes again');
  client.tell(SdkType.HealthEvent, 1, [], BIND_TOKEN);
  client.tell(SdkType.HealthEvent, 1, [], BIND_TOKEN);
  client.tell(SdkType.Unbind, 1, [], BIND_TOKEN);
  await settled();
  t.notOk(rooms.clock.timers().includes('health event'), 'nothing waits for a service that is gone');
  client.channel.close();
});

t.test('trace routes of a peer do not disconnect a client that reads slowly', async (t) => {
  const rooms = sdkRooms();
  const client = await rooms.connect();
  const circuitId = (await client.dial(1)).string(SdkHeader.CircuitId) ?? '';
  client.channel.setReading(false);
  await fillDataLane(rooms);
  const headers: HeaderEntries = [
    [XgressHeader.HopCount, encodeUint32(9)],
    [XgressHeader.UserValue, encodeUint32(1)],
  ];
  for (let count = 0; count < 20_000; count++)
    rooms.forwarder.forwardControl(
      `${circuitId}-egress`,
      traceRouteFrame(ControlMessageType.TraceRoute, circuitId, headers),
    );
  await settled();
  t.equal(rooms.clients.count, 1);
  client.channel.close();
});

t.test('a client that sends on after its peer has closed does not stop its other circuits', async (t) => {
  const rooms = sdkRooms();
  const { forwarder } = rooms;
  const client = await rooms.connect();
  const circuitId = (await client.dial(1)).string(SdkHeader.CircuitId) ?? '';
  forwarder.registerLink({ ...HOP, address: `${circuitId}-egress` });
  client.tell(SdkType.Data, 1, [], 'x');
  await settled();
  for (const [sequence, flag] of [PayloadFlag.Eof, PayloadFlag.CircuitEnd].entries()) {
    const payload = Payload.create(circuitId, sequence, flag | PayloadFlag.Originator, Buffer.alloc(0));
    forwarder.forwardPayload(`${circuitId}-egress`, payload, PayloadOrigin.Forwarded);
  }
  for (let count = 0; count < MANY; count++) client.tell(SdkType.Data, 1, [], LARGE);
  await settled();
  t.equal(await promptly(client.dial(2)), SdkType.StateConnected);
  client.channel.close();
});

t.test('a client that subscribes many times at once gets few lists', async (t) => {
  const rooms = sdkRooms();
  const client = await rooms.connect();
  for (let count = 0; count < 450; count++) {
    client.tell(SdkType.Subscribe, 0);
    client.tell(SdkType.ResyncPosture, 0);
  }
  await settled();
  const lists = client.of(SdkType.ServiceChangeSet).length;
  t.ok(lists >= 1 && lists <= 10, `${lists} lists`);
  client.channel.close();
});

t.test(
  'a client whose connection closes before its session is found is not rejected; one without a session is',
  async (t) => {
    for (const closes of [true, false]) {
      const rooms = sdkRooms();
      rooms.tokens.access = async () => Promise.reject(new TokenError('no key yet', { retriable: true }));
      const client = await rooms.connect();
      if (closes) rooms.clients.close();
      for (let second = 0; second < 6; second++) {
        await settled();
        await rooms.clock.advance(1_000);
      }
      t.equal(rooms.counted.rejected, closes ? 0 : 1);
      client.channel.close();
    }
  },
);

t.test('a client whose session is being checked is not served after the close', async (t) => {
  const rooms = sdkRooms();
  const checked = Promise.withResolvers<void>();
  const { access } = rooms.tokens;
  rooms.tokens.access = async (...given) => {
    await checked.promise;
    return access(...given);
  };
  const client = await rooms.connect();
  rooms.clients.close();
  checked.resolve();
  await settled();
  t.equal(rooms.clients.count, 0);
  client.channel.close();
});
