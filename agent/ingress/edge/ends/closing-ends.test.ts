// Ends of circuits that are over for the router while a hosting client still has connections for them: dials without an
// answer, rejected dials, and ends that the router closed. The controller then dials the client again for the circuit.

import t, { type Test } from 'tap';
import { frameWithHeader } from '#wire/frame.ts';
import { PayloadFlag, PeerDataKey, SdkHeader, SdkType, XgressType } from '#wire/gen/numbers.ts';
import { encodeUint32, TRUE } from '#wire/header-values.ts';
import { Message } from '#wire/message.ts';
import { Payload } from '#wire/xgress-frames.ts';
import { BIND_TOKEN, sdkRooms, settled } from '../../../../test/support/rooms/sdk-rooms.ts';
import type { Right } from '../clients/right.ts';
import type { SdkConnection } from '../clients/sdk-connection.ts';
import { ClosingEnds } from './closing-ends.ts';
import { relayEnd } from './sdk-ends.ts';

const CIRCUIT = 'circuit';

/** A client that hosts a service. `dial` dials it for the circuit, as a route does. */
async function host({ flowControl = true } = {}) {
  const rooms = sdkRooms();
  const { clock, clients, ends, forwarder, hosting, kept } = rooms;
  const client = await rooms.connect();
  const own = [SdkHeader.RouterProvidedConnectionId, TRUE] as const;
  await client.ask(SdkType.Bind, 1, flowControl ? [own, [SdkHeader.UseXgressToSdk, TRUE]] : [own], BIND_TOKEN);
  const dial = async (appData = '') => {
    const [terminatorId = ''] = kept.keys();
    const { signal } = new AbortController();
    const target = {
      circuitId: CIRCUIT,
      address: 'egress',
      destination: terminatorId,
      peerData: new Map([[PeerDataKey.AppData, Buffer.from(appData)]]),
    };
    const dialed = await hosting.dial({ ...target, timeLeft: 0, tags: {}, owner: 'c', signal });
    forwarder.circuits.open(CIRCUIT, 'c', {});
    if ('relay' in dialed) dialed.relay.open(ends);
  };
  const dials = () => client.of(SdkType.Dial);
  const idOf = (index: number) => dials()[index]?.headers.get(SdkHeader.RouterProvidedConnectionId) ?? Buffer.alloc(0);
  const accept = async (index: number) => {
    client.channel.reply(dials()[index] as Message, new Message(SdkType.DialSuccess, [], idOf(index)));
    await settled();
  };
  /** Dials and is accepted. */
  const open = async () => {
    const dialed = dial();
    await settled();
    await accept(dials().length - 1);
    await dialed;
  };
  /** Dials and gets no answer in time. */
  const timeOut = async () => {
    const failed = dial().catch(() => 'failed');
    await settled();
    await clock.advance(5_001);
    t.equal(await failed, 'failed');
    await settled();
  };
  const sendEnd = (index: number) => {
    const payload = Payload.create(CIRCUIT, 0, PayloadFlag.CircuitEnd | PayloadFlag.Originator, Buffer.alloc(0));
    const { head, body } = frameWithHeader(payload.bytes, SdkHeader.ConnectionId, idOf(index));
    client.channel.lane().trySendFrame(head, body);
  };
  const sendClose = () => client.channel.send(new Message(XgressType.Close, [], CIRCUIT));
  /** Closes the connection of a dial as the Go SDK does: the end of the circuit, then the circuit's id. */
  const close = async (index: number) => {
    sendEnd(index);
    sendClose();
    await settled();
  };
  const closed = () => client.of(SdkType.StateClosed).map((message) => message.headers.get(SdkHeader.ConnectionId));
  /** Circuit ends, without the hosted service. */
  const count = () => clients.ends - 1;
  const { sent } = rooms;
  const acts = { accept, close, dial, open, sendClose, sendEnd, timeOut };
  return { ...acts, client, closed, count, dials, forwarder, idOf, sent };
}

t.test('a host that does not answer a dial in time learns that its connection has no circuit', async (t) => {
  for (const flowControl of [false, true]) {
    const { accept, client, closed, count, idOf, timeOut } = await host({ flowControl });
    await timeOut();
    t.same(closed(), [idOf(0)]);
    await accept(0);
    t.same(closed(), [idOf(0), idOf(0)], 'it ignores the first message if the dial arrives later');
    t.equal(count(), 0);
    client.channel.close();
  }
});

t.test('a host that the dial did not reach is sent nothing', async (t) => {
  const { client, closed, dial } = await host();
  client.channel.setReading(false);
  const texts: string[] = [];
  const appData = 'x'.repeat(10_000);
  for (let count = 0; count < 1_000; count++) dial(appData).catch((error: Error) => texts.push(error.message));
  await settled();
  t.match(texts[0], /queue/);
  t.same(closed(), []);
  client.channel.close();
});

t.test('the end of a dial without an answer does not end the next dial of its circuit', async (t) => {
  const { accept, client, close, count, open, timeOut } = await host();
  await timeOut();
  await open();
  await close(0);
  t.equal(count(), 1);
  await accept(0);
  await close(1);
  t.equal(count(), 0, 'a late answer after the end of its connection makes no difference');
  client.channel.close();
});

/**
 * A client that has an end which is over is dialed again, and closes both. The first close does not end the new dial.
 */
async function endNext(t: Test, { client, close, count, open }: Awaited<ReturnType<typeof host>>): Promise<void> {
  await open();
  await close(0);
  t.equal(count(), 1);
  await close(1);
  t.equal(count(), 0);
  client.channel.close();
}

t.test('the end of a rejected dial does not end the next dial of its circuit', async (t) => {
  const ends = await host();
  const { client, closed, dial, dials, idOf } = ends;
  const rejected = t.rejects(dial(), /not now/);
  await settled();
  client.channel.reply(dials()[0] as Message, new Message(SdkType.DialFailed, [], 'not now'));
  await rejected;
  await settled();
  t.same(closed(), [idOf(0)], 'the Go SDK keeps the connection of a rejected dial for three minutes');
  await endNext(t, ends);
});

for (const state of ['answered', 'in progress'] as const)
  t.test(`a close that overtakes the end of a rejected dial does not end the next dial, ${state}`, async (t) => {
    const { accept, client, close, count, dial, dials, sendClose, sendEnd } = await host();
    const rejected = t.rejects(dial(), /not now/);
    await settled();
    client.channel.reply(dials()[0] as Message, new Message(SdkType.DialFailed, [], 'not now'));
    await rejected;
    const next = dial();
    await settled();
    if (state === 'answered') await accept(1);
    sendClose(); // over another connection of its group
    await settled();
    if (state === 'in progress') await accept(1);
    sendEnd(0);
    await next;
    await settled();
    t.equal(count(), 1);
    await close(1);
    t.equal(count(), 0);
    client.channel.close();
  });

t.test('an end that closes during the next dial of its circuit does not end that dial', async (t) => {
  const { accept, client, close, count, dial, open } = await host();
  await open();
  const next = dial();
  await settled();
  await close(0);
  await accept(1);
  await next;
  await settled();
  t.equal(count(), 1);
  client.channel.close();
});

t.test('a host that answers a dial twice at once keeps its circuit', async (t) => {
  const { accept, client, closed, count, dial } = await host();
  const dialed = dial();
  await settled();
  await Promise.all([accept(0), accept(0)]); // in one read
  await dialed;
  t.same([count(), closed()], [1, []]);
  client.channel.close();
});

t.test('an end that the router closed does not end the next dial of its circuit', async (t) => {
  const ends = await host();
  const { closed, forwarder, idOf, open } = ends;
  await open();
  forwarder.remove(CIRCUIT);
  await settled();
  t.same(closed(), [idOf(0)]);
  await endNext(t, ends);
});

t.test('a host that closes its connection before, or as soon as, it accepts the dial ends the circuit', async (t) => {
  for (const closesFirst of [false, true]) {
    const { accept, client, close, count, dial, forwarder, sent } = await host();
    const dialed = dial();
    await settled();
    await Promise.all(closesFirst ? [close(0), accept(0)] : [accept(0), close(0)]); // in one read
    await dialed;
    t.same([count(), forwarder.circuits.size], [0, 0]);
    t.equal(sent.length, 1, 'the fault that tells the controller');
    client.channel.close();
  }
});

t.test('a host without its own flow control gets no message after a rejected dial', async (t) => {
  const { client, closed, dial, dials } = await host({ flowControl: false });
  const rejected = t.rejects(dial(), /not now/);
  await settled();
  client.channel.reply(dials()[0] as Message, new Message(SdkType.DialFailed, [], 'not now'));
  await rejected;
  await settled();
  t.same(closed(), []);
  client.channel.close();
});

t.test('each close of a client is for one end that is over; further closes end the circuit', async (t) => {
  const ends = new ClosingEnds();
  const closes = (circuitId: string, count: number) =>
    Array.from({ length: count }, () => ends.closed(circuitId, false));
  ends.willClose('three');
  ends.willClose('other');
  ends.willClose('three');
  ends.willClose('three');
  t.same(closes('three', 4), [true, true, true, false]);
  t.same(closes('other', 2), [true, false]);
  ends.dialFailed(1, 'failed');
  t.same(closes('failed', 2), [true, false], 'the close of a failed dial');
  ends.dialFailed(2, 'failed');
  ends.ended(2);
  ends.ended(2);
  t.same(closes('failed', 2), [true, false], 'its end, then its close');
  ends.dial(3, 'dialing');
  t.same(closes('dialing', 2), [true, false]);
  t.equal(ends.dialed(3), true, 'the client closed the circuit before it answered the dial');
  t.equal(ends.dialed(3), false);
});

/** A circuit whose ends are connections 1 and 2 of the same client. */
async function ownCircuit() {
  const rooms = sdkRooms();
  const client = await rooms.connect();
  const [connection] = rooms.clients.all();
  const circuit = rooms.forwarder.circuits.open(CIRCUIT, 'c', {});
  for (const [connectionId, role, address, peer] of [
    [2, 'terminator', 'egress', 'ingress'],
    [1, 'initiator', 'ingress', 'egress'],
  ] as const) {
    circuit.forwards.set(address, peer);
    const init = { connectionId, circuitId: CIRCUIT, address, role, owner: 'c' };
    relayEnd(rooms.components, connection as SdkConnection, {} as Right, init).open(rooms.ends);
  }
  const end = async (id: number, flags: number, sequence = 0) => {
    const origin = id === 2 ? PayloadFlag.Originator : 0;
    const payload = Payload.create(CIRCUIT, sequence, flags | origin, Buffer.alloc(0));
    const { head, body } = frameWithHeader(payload.bytes, SdkHeader.ConnectionId, encodeUint32(id));
    client.channel.lane().trySendFrame(head, body);
    await settled();
  };
  const close = async () => {
    client.channel.send(new Message(XgressType.Close, [], CIRCUIT));
    await settled();
  };
  const left = () => connection?.relays().map(({ connectionId }) => connectionId);
  return { ...rooms, client, close, end, left };
}

t.test('a client that closes one end of a circuit to itself reads on at the other', async (t) => {
  for (const [first, second] of [
    [1, 2],
    [2, 1],
  ] as const) {
    const { client, close, end, left } = await ownCircuit();
    await end(first, PayloadFlag.CircuitEnd);
    await close();
    t.same(left(), [second]);
    t.same(client.of(SdkType.StateClosed), []);
    await end(second, PayloadFlag.CircuitEnd);
    await close();
    t.same(left(), []);
    client.channel.close();
  }
});
