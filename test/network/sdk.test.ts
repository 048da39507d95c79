// SDK clients at our router: dialing and hosting, with the router's flow control and with their own.

import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import t from 'tap';
import { BufferPool } from '#lib/queue/buffer-pool.ts';
import { ChannelHeader, EdgeFlag, PayloadFlag, SdkHeader, SdkType, XgressType } from '#wire/gen/numbers.ts';
import { encodeUint32, TRUE } from '#wire/header-values.ts';
import { Message } from '#wire/message.ts';
import { Acknowledgement, Payload } from '#wire/xgress-frames.ts';
import {
  enrollDevice,
  loginLegacy,
  loginOidc,
  SdkClient,
  type SdkConn,
  serviceSession,
} from '../support/clients/sdk-client.ts';
import { ending } from '../support/networks/overlay.ts';
import { allLeft, counts, isEmpty, network, sdkService } from '../support/networks/sdk-network.ts';
import { until } from '../support/until.ts';

const UPLOAD = 20_000_000;
const MESSAGE = 16_000;
const FIN: readonly (readonly [number, Buffer])[] = [[SdkHeader.Flags, encodeUint32(EdgeFlag.Fin)]];

t.test('an SDK client with a legacy session dials: data, half close, close, and nothing remains', async (t) => {
  await using net = await network();
  const { overlay, a, b, echo } = net;
  const device = await enrollDevice(overlay, 'device');
  const token = await loginLegacy(overlay, device);
  const session = await serviceSession(overlay, device, token, echo, 'Dial');
  const client = await SdkClient.connect(a.sdkPort, device, token);
  t.same(client.hello.headers.get(SdkHeader.RouterCapabilities)?.toString('hex'), '4001000000000076');
  const isOnline = async () => (await overlay.management.identities.get(device.identityId)).hasEdgeRouterConnection;
  await until('the controller to learn of the connection', isOnline);
  const { conn, answer } = await client.dial(session);
  t.equal(answer.contentType, SdkType.StateConnected, answer.body.toString());
  t.ok(answer.string(SdkHeader.CircuitId));
  conn.send('hello');
  await until('the echo', () => conn.text === 'hello');
  conn.send('', FIN);
  await until('the end of the echo', () => (conn.flags & EdgeFlag.Fin) !== 0);
  conn.close();
  await until('the end of the circuit', () => counts(a).circuitEnds === 0 && counts(b).circuitEnds === 0);
  const second = await client.dial(session);
  t.equal(second.answer.contentType, SdkType.StateConnected);
  client.close();
  await until('both routers to be empty', () => isEmpty(a) && isEmpty(b));
  await until('the controller to learn of the end', async () => !(await isOnline()));
  await device.http.close();
});

t.test('a service receives what an SDK client sent before it closed its connection and left', async (t) => {
  await using net = await network();
  const { overlay, a, b } = net;
  const ends: Promise<string>[] = [];
  let received = 0;
  const server = createServer((socket) => {
    ends.push(ending(socket));
    socket.on('data', ({ length }) => {
      received += length;
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const sink = await overlay.addService('sink', b.id, { encrypted: false, port });
  await until('its terminator', async () => (await overlay.management.terminators.list()).length > 1);
  const device = await enrollDevice(overlay, 'device');
  const token = await loginLegacy(overlay, device);
  const session = await serviceSession(overlay, device, token, sink, 'Dial');
  const client = await SdkClient.connect(a.sdkPort, device, token);
  const { conn, answer } = await client.dial(session);
  t.equal(answer.contentType, SdkType.StateConnected, answer.body.toString());
  for (let count = 0; count < UPLOAD / MESSAGE; count++) conn.send(Buffer.alloc(MESSAGE));
  conn.close();
  const { channel } = client;
  const isWritten = () => channel.lane().queued === 0 && channel.underlays.every(({ backlog }) => backlog === 0);
  await until('the system to have all of it', isWritten); // a close does not wait long for a slow router
  client.close();
  await allLeft(net, device);
  t.same(await Promise.all(ends), ['closed']);
  t.equal(received, UPLOAD);
  server.close();
});

t.test('an SDK client receives no message of more than 32 KiB: older SDKs lose data of larger ones', async (t) => {
  await using net = await network();
  const { overlay, a, echo } = net;
  const device = await enrollDevice(overlay, 'device');
  const token = await loginLegacy(overlay, device);
  const session = await serviceSession(overlay, device, token, echo, 'Dial');
  const client = await SdkClient.connect(a.sdkPort, device, token);
  const { conn } = await client.dial(session);
  const sent = 'abcdefgh'.repeat(128 * 1024);
  conn.send(sent);
  await until('the whole echo', () => conn.text.length >= sent.length);
  t.ok(conn.text === sent, 'unchanged');
  t.ok(Math.max(...conn.received.map(({ data }) => data.length)) <= 32 * 1024);
  client.close();
  await device.http.close();
});

t.test('the controller lists the capabilities that a router reports to SDK clients', async (t) => {
  await using net = await network();
  const { overlay, a } = net;
  const device = await enrollDevice(overlay, 'device');
  const client = await SdkClient.connect(a.sdkPort, device, await loginLegacy(overlay, device));
  const mask = client.hello.headers.get(SdkHeader.RouterCapabilities)?.toString('hex');
  const listed = await overlay.management.edgeRouters.get(a.id);
  t.equal(listed.capabilitiesMask, Number(`0x${mask}`));
  // The Go SDK subscribes only to routers that are listed with this capability.
  t.ok(listed.capabilities?.includes('SERVICE_SUBSCRIPTIONS'), String(listed.capabilities));
  client.close();
  await device.http.close();
});

t.test(
  'a client with a session in token form dials a service by name, and keeps the connection with a new token',
  async (t) => {
    await using net = await network();
    const { overlay, a, b } = net;
    const device = await enrollDevice(overlay, 'device');
    const token = await loginOidc(overlay, device);
    const client = await SdkClient.connect(a.sdkPort, device, token);
    const { conn, answer } = await client.dialByName('echo');
    t.equal(answer.contentType, SdkType.StateConnected, answer.body.toString());
    conn.send('hello');
    await until('the echo', () => conn.text === 'hello');
    t.match((await client.dialByName('nothing')).answer, {
      contentType: SdkType.StateClosed,
      body: /service nothing not found/,
    });
    t.equal((await client.ask(SdkType.UpdateToken, [], token)).contentType, SdkType.UpdateTokenSuccess);
    conn.send(' again');
    await until('the echo', () => conn.text === 'hello again');
    const other = await loginOidc(overlay, device);
    const rejected = await client.ask(SdkType.UpdateToken, [], other);
    t.equal(rejected.contentType, SdkType.UpdateTokenFailure, 'the token of another session');
    await client.channel.closed;
    await allLeft({ a, b }, device);
  },
);

t.test('an SDK client hosts, another one dials over a link: both ways, half close, rejection, close', async (t) => {
  await using net = await network();
  const { overlay, a, b } = net;
  const host = await enrollDevice(overlay, 'host');
  const client = await enrollDevice(overlay, 'client');
  const service = await sdkService(overlay, 'sdk', host.identityId);
  const hostToken = await loginLegacy(overlay, host);
  const hosting = await SdkClient.connect(b.sdkPort, host, hostToken);
  const accepted: SdkConn[] = [];
  const bindToken = await serviceSession(overlay, host, hostToken, service, 'Bind');
  const bound = await hosting.bind(bindToken, (conn) => accepted.push(conn), [[SdkHeader.SupportsBindSuccess, TRUE]]);
  t.equal(bound.contentType, SdkType.StateConnected, bound.body.toString());
  await until('the terminator', async () =>
    (await overlay.management.terminators.list()).some((each) => each.service?.id === service),
  );
  const token = await loginOidc(overlay, client);
  const dialing = await SdkClient.connect(a.sdkPort, client, token);
  const { conn, answer } = await dialing.dialByName('sdk', [
    [SdkHeader.AppData, '{"a":1}'],
    [SdkHeader.CallerId, 'me'],
  ]);
  t.equal(answer.contentType, SdkType.StateConnected, answer.body.toString());
  const [other] = accepted;
  if (!other) throw new Error('no connection was accepted');
  conn.send('ping');
  await until('the request', () => other.text === 'ping');
  other.send('pong');
  conn.send('', FIN);
  await until('the half close', () => (other.flags & EdgeFlag.Fin) !== 0);
  other.send('!');
  await until('the answer after the half close', () => conn.text === 'pong!');
  other.close();
  await until('the close', () => conn.closed !== undefined);
  const dials = await Promise.all(Array.from({ length: 50 }, () => dialing.dialByName('sdk')));
  t.ok(dials.every((each) => each.answer.contentType === SdkType.StateConnected));
  hosting.close();
  await until('all of them to be closed', () => dials.every((each) => each.conn.closed !== undefined));
  await until('the terminator to be removed', async () =>
    (await overlay.management.terminators.list()).every((each) => each.service?.id !== service),
  );
  dialing.close();
  await allLeft({ a, b }, host, client);
});

t.test('clients trace the route of their connections, hop by hop, to the host and from it', async (t) => {
  await using all = await network();
  const { overlay, a, b } = all;
  const hostDevice = await enrollDevice(overlay, 'tracing-host');
  const dialer = await enrollDevice(overlay, 'tracing-dialer');
  t.teardown(() => Promise.all([hostDevice, dialer].map(({ http }) => http.close())));
  const service = await sdkService(overlay, 'traced', hostDevice.identityId);
  const hostToken = await loginLegacy(overlay, hostDevice);
  const host = await SdkClient.connect(b.sdkPort, hostDevice, hostToken);
  const questions: Message[] = [];
  host.channel.on(SdkType.TraceRoute, (question) => {
    questions.push(question);
    const copied = [SdkHeader.ConnectionId, SdkHeader.TraceTimestamp, SdkHeader.TraceSourceRequestId].map(
      (key) => [key, question.headers.get(key) ?? Buffer.alloc(0)] as const,
    );
    host.channel.send(
      new Message(SdkType.TraceRouteResponse, [
        ...copied,
        [SdkHeader.TraceHopCount, encodeUint32(0)],
        [SdkHeader.TraceHopType, 'sdk/test'],
        [SdkHeader.TraceHopId, 'the host'],
      ]),
    );
  });
  await host.bind(await serviceSession(overlay, hostDevice, hostToken, service, 'Bind'), () => undefined);
  await until('a terminator', async () => {
    const found = await overlay.management.terminators.list();
    return found.some((each) => each.service?.id === service);
  });
  const token = await loginLegacy(overlay, dialer);
  const client = await SdkClient.connect(a.sdkPort, dialer, token);
  const { conn, answer } = await client.dial(await serviceSession(overlay, dialer, token, service, 'Dial'));
  t.equal(answer.contentType, SdkType.StateConnected);
  const trace = async (hops: number) => {
    const reply = await client.ask(SdkType.TraceRoute, [
      [SdkHeader.ConnectionId, encodeUint32(conn.id)],
      [SdkHeader.TraceHopCount, encodeUint32(hops)],
      [SdkHeader.TraceTimestamp, Buffer.alloc(8, 7)],
    ]);
    t.equal(reply.contentType, SdkType.TraceRouteResponse);
    t.same(reply.headers.get(SdkHeader.TraceTimestamp), Buffer.alloc(8, 7), "the time is the client's");
    return [reply.string(SdkHeader.TraceHopType), reply.string(SdkHeader.TraceHopId)];
  };
  t.same(await trace(1), ['xgress/edge', '']);
  t.same(await trace(2), ['forwarder', a.id]);
  t.same(await trace(3), ['forwarder', b.id]);
  t.equal((await trace(4))[0], 'xgress/edge', 'the listener of the host');
  t.same(await trace(20), ['sdk/test', 'the host']);
  t.equal(questions.length, 1, 'only the request with remaining hops reached the host');
  host.close();
  client.close();
});

t.test('a client with its own flow control exchanges frames with its own circuits only', async (t) => {
  await using net = await network();
  const { overlay, a, b } = net;
  const device = await enrollDevice(overlay, 'device');
  const token = await loginOidc(overlay, device);
  const client = await SdkClient.connect(a.sdkPort, device, token);
  const { answer } = await client.dialByName('echo', [[SdkHeader.UseXgressToSdk, TRUE]]);
  t.equal(answer.contentType, SdkType.StateConnected, answer.body.toString());
  const circuitId = answer.string(SdkHeader.CircuitId) ?? '';
  t.ok(answer.bool(SdkHeader.UseXgressToSdk) && answer.string(SdkHeader.XgressAddress));
  const send = (id: string, sequence: number, flags: number, data: string) => {
    const payload = Payload.create(id, sequence, flags, Buffer.from(data));
    client.channel.lane().trySendFrame(payload.bytes, undefined);
  };
  const payloads = () =>
    client.frames
      .filter(({ contentType }) => contentType === XgressType.Payload)
      .map((frame) => Payload.fromFrame(frame));
  send(circuitId, 0, PayloadFlag.CircuitStart, '');
  send(circuitId, 1, 0, 'hello');
  await until('the echo', () => payloads().some(({ data }) => data.toString() === 'hello'));
  t.ok(client.frames.some(({ contentType }) => contentType === XgressType.Acknowledgement));

  const second = await SdkClient.connect(a.sdkPort, device, token);
  const forged = Payload.create(circuitId, 2, 0, Buffer.from('forged'));
  second.channel.lane().trySendFrame(forged.bytes, undefined);
  second.channel.lane().trySendFrame(new Message(XgressType.Close, [], circuitId).encode(), undefined);
  send('unknown', 0, 0, 'x');
  send(circuitId, 2, 0, ' again');
  await until('the echo', () => payloads().some(({ data }) => data.toString() === ' again'));
  t.notOk(payloads().some(({ data }) => data.toString() === 'forged'));
  client.channel.send(new Message(XgressType.Close, [], circuitId));
  await until('the end of the circuit', () => counts(a).circuits === 0 && counts(b).circuits === 0);
  client.close();
  second.close();
  await allLeft({ a, b }, device);
});

t.test('a client with its own flow control dials a service that it hosts itself, over one connection', async (t) => {
  await using net = await network();
  const { overlay, a, b } = net;
  const device = await enrollDevice(overlay, 'device');
  const service = await sdkService(overlay, 'own', device.identityId);
  const token = await loginOidc(overlay, device);
  const client = await SdkClient.connect(a.sdkPort, device, token);
  const bindToken = await serviceSession(overlay, device, token, service, 'Bind');
  const bound = await client.bind(bindToken, () => undefined, [[SdkHeader.UseXgressToSdk, TRUE]]);
  t.equal(bound.contentType, SdkType.StateConnected, bound.body.toString());
  await until('the terminator', async () =>
    (await overlay.management.terminators.list()).some((each) => each.service?.id === service),
  );
  const { conn, answer } = await client.dialByName('own', [[SdkHeader.UseXgressToSdk, TRUE]]);
  t.equal(answer.contentType, SdkType.StateConnected, answer.body.toString());
  const circuitId = answer.string(SdkHeader.CircuitId) ?? '';
  const send = (sequence: number, flags: number, data: string) => {
    const payload = Payload.create(circuitId, sequence, flags, Buffer.from(data));
    client.channel.lane().trySendFrame(payload.bytes, undefined);
  };
  const received: { data: string; isOfDial: boolean }[] = [];
  client.frameHandlers.set(XgressType.Payload, (frame) => {
    const isOfDial = frame.header(SdkHeader.ConnectionId)?.readUInt32LE() === conn.id;
    received.push({ data: Payload.fromFrame(frame).data.toString(), isOfDial });
  });
  const arrived = (data: string) => received.filter((each) => each.data === data).map(({ isOfDial }) => isOfDial);
  send(0, PayloadFlag.CircuitStart, '');
  send(1, 0, 'question');
  send(0, PayloadFlag.Originator, 'answer');
  await until('both payloads', () => arrived('question').length > 0 && arrived('answer').length > 0);
  t.same(arrived('question'), [false], 'the host receives what the dialing end sent');
  t.same(arrived('answer'), [true], 'the dialing end receives what the host sent');
  client.channel.send(new Message(XgressType.Close, [], circuitId));
  await until('the end of the circuit', () => counts(a).circuits === 0 && counts(a).circuitEnds === 0);
  client.close();
  await allLeft({ a, b }, device);
});

t.test(
  'a client with its own flow control reads on when a host on its router closes after its last data',
  async (t) => {
    await using net = await network();
    const { overlay, a, b } = net;
    const device = await enrollDevice(overlay, 'device');
    const service = await sdkService(overlay, 'own', device.identityId);
    const token = await loginOidc(overlay, device);
    const [host, client] = [
      await SdkClient.connect(a.sdkPort, device, token),
      await SdkClient.connect(a.sdkPort, device, token),
    ];
    const hosted: SdkConn[] = [];
    await host.bind(await serviceSession(overlay, device, token, service, 'Bind'), (conn) => hosted.push(conn));
    await until('the terminator', async () =>
      (await overlay.management.terminators.list()).some((each) => each.service?.id === service),
    );
    const { conn, answer } = await client.dialByName('own', [[SdkHeader.UseXgressToSdk, TRUE]]);
    t.equal(answer.contentType, SdkType.StateConnected, answer.body.toString());
    const circuitId = answer.string(SdkHeader.CircuitId) ?? '';
    const received: Payload[] = [];
    client.frameHandlers.set(XgressType.Payload, (frame) => {
      const payload = Payload.fromFrame(frame).copy(new BufferPool());
      received.push(payload);
      const acknowledgement = Acknowledgement.create(circuitId, 0, 1_000, 0, [payload.sequence]);
      client.channel.lane().trySendFrame(acknowledgement.bytes, undefined);
    });
    client.channel
      .lane()
      .trySendFrame(Payload.create(circuitId, 0, PayloadFlag.CircuitStart, Buffer.alloc(0)).bytes, undefined);
    hosted[0]?.send('last data');
    hosted[0]?.close();
    await until('the end of the circuit', () => counts(a).circuits === 0 && counts(a).circuitEnds === 0);
    const hasEnd = () => received.some((payload) => payload.has(PayloadFlag.CircuitEnd));
    await until('the router to end the sending of the client', () => {
      return hasEnd() && (conn.closed !== undefined || received.at(-1)?.has(PayloadFlag.WriteFailed) === true);
    });
    t.equal(conn.closed, undefined, 'a close message would make the client drop what it has not read');
    t.equal(received.map(({ data }) => data.toString()).join(''), 'last data');
    client.channel.send(new Message(XgressType.Close, [], circuitId));
    client.close();
    host.close();
    await allLeft({ a, b }, device);
  },
);

t.test('a grouped client adds a connection for control messages, and ends with its last data connection', async (t) => {
  await using net = await network();
  const { overlay, a, b } = net;
  const device = await enrollDevice(overlay, 'device');
  const token = await loginOidc(overlay, device);
  const grouped = [[ChannelHeader.IsGrouped, TRUE]] as const;
  const client = await SdkClient.connect(a.sdkPort, device, token, [
    ...grouped,
    [ChannelHeader.FirstInGroup, TRUE],
    [ChannelHeader.UnderlayType, 'edge.default'],
  ]);
  const id = client.hello.string(ChannelHeader.ConnectionId) ?? '';
  const secret = client.hello.headers.get(ChannelHeader.GroupSecret) ?? Buffer.alloc(0);
  const control = await SdkClient.connect(a.sdkPort, device, token, [
    ...grouped,
    [ChannelHeader.UnderlayType, 'edge.control'],
    [ChannelHeader.ConnectionId, id],
    [ChannelHeader.GroupSecret, secret],
  ]);
  const { conn, answer } = await client.dialByName('echo');
  t.equal(answer.contentType, SdkType.StateConnected, answer.body.toString());
  conn.send('hello');
  await until('the echo', () => conn.text === 'hello');
  t.equal(counts(a).sdkClients, 1, 'both connections count as one client');
  client.close();
  await control.channel.closed;
  await allLeft({ a, b }, device);
});
