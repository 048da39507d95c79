// The ways of a client's circuits over its connection.

import t from 'tap';
import { SdkHeader, SdkType } from '#wire/gen/numbers.ts';
import { encodeUint32 } from '#wire/header-values.ts';
import { Message } from '#wire/message.ts';
import { sdkRooms, settled } from '../../../../test/support/rooms/sdk-rooms.ts';
import type { CircuitEnd } from '../../../forwarder/destination.ts';
import type { ClientEnd } from '../ends/client-end.ts';
import type { Right } from './right.ts';
import { dataHead } from './sdk-messages.ts';

t.test('circuits that wait for a slow client get places in turn', { timeout: 60_000 }, async (t) => {
  const { clients, connect } = sdkRooms();
  const client = await connect();
  const [connection] = clients.all();
  const data = Buffer.alloc(16_000);
  const nothing = () => undefined;
  const left = new Map([
    [7, 1_000],
    [8, 1_000],
  ]);
  /** Sends as much as it can, like a circuit whose buffer is full. */
  const send = (end: ClientEnd) => {
    const { connectionId: id } = end;
    const rest = () => left.get(id) ?? 0;
    while (rest() > 0 && connection?.trySendData(id, dataHead(id, data.length, undefined), data))
      left.set(id, rest() - 1);
    if (rest() > 0) connection?.onceWritable(end);
  };
  for (const connectionId of left.keys()) {
    const end = { connectionId, onClosed: nothing, onLost: () => false, cut: nothing, onLinkWritable: () => send(end) };
    send(end);
  }
  const received = () => client.of(SdkType.Data).map((message) => message.uint32(SdkHeader.ConnectionId));
  for (let turn = 0; turn < 5_000 && received().length < 2_000; turn++) await settled();
  t.equal(received().length, 2_000, 'nobody waits forever');
  const shared = received().slice(0, 1_000);
  t.ok(shared.filter((id) => id === 8).length > 300);
  client.channel.close();
});

t.test('identities that dial a hosting client share its connection, however many circuits each has', async (t) => {
  const { clients, connect, forwarder } = sdkRooms();
  const client = await connect();
  const [connection] = clients.all();
  const nothing = () => undefined;
  const data = Buffer.alloc(16_000);
  const left = new Map<number, number>();
  const add = (connectionId: number, clientId: string, count: number) => {
    const circuitId = `circuit ${connectionId}`;
    forwarder.circuits.open(circuitId, 'c', { clientId });
    const circuitEnd = { circuitId, address: `${circuitId} end` } as CircuitEnd;
    const end: ClientEnd = {
      ...{ connectionId, circuitEnd, onClosed: nothing, onLost: () => false, cut: nothing },
      onLinkWritable: () => {
        const rest = () => left.get(connectionId) ?? 0;
        while (
          rest() > 0 &&
          connection?.trySendData(connectionId, dataHead(connectionId, data.length, undefined), data)
        )
          left.set(connectionId, rest() - 1);
        if (rest() > 0) connection?.onceWritable(end);
      },
    };
    connection?.put(connectionId, end, {} as Right);
    left.set(connectionId, count);
    end.onLinkWritable?.();
  };
  const received = () => client.of(SdkType.Data).map((message) => message.uint32(SdkHeader.ConnectionId));
  client.channel.setReading(false);
  for (let id = 1; id <= 60; id++) add(id, 'x', 30);
  add(100, 'y', 100);
  client.channel.setReading(true);
  for (let turn = 0; turn < 5_000 && received().length < 1_900; turn++) await settled();
  t.equal(received().length, 1_900);
  const before = received().lastIndexOf(100) - 99;
  t.ok(before < 200, `${before} messages of the sixty circuits precede the last of the other`);
  client.channel.close();
});

t.test('a message that waits behind the data of its circuit does not hold up other circuits', async (t) => {
  const { clients, connect, forwarder } = sdkRooms();
  const client = await connect();
  const [connection] = clients.all();
  if (!connection) throw new Error('the client is not connected');
  const nothing = () => undefined;
  for (const [connectionId, clientId] of [
    [7, 'slow'],
    [8, 'other'],
  ] as const) {
    const circuitId = `circuit ${connectionId}`;
    forwarder.circuits.open(circuitId, 'c', { clientId });
    const circuitEnd = { circuitId, address: `${circuitId} end` } as CircuitEnd;
    connection.put(
      connectionId,
      { connectionId, circuitEnd, onClosed: nothing, onLost: () => false, cut: nothing },
      {
        ...({} as Right),
      },
    );
  }
  client.channel.setReading(false);
  const data = Buffer.alloc(16_000);
  const queued = (id: number) =>
    connection.trySendData(id, dataHead(id, data.length, undefined), data, { waits: false });
  while (queued(7));
  const last = Buffer.alloc(16_000, 'last');
  connection.send(new Message(SdkType.StateClosed, [[SdkHeader.ConnectionId, encodeUint32(7)]], last));
  t.notOk(queued(7), 'its own data stays behind the message');
  t.ok(queued(8), 'the other circuit sends');
  connection.send(new Message(SdkType.StateClosed, [[SdkHeader.ConnectionId, encodeUint32(8)]], ''));
  client.channel.setReading(true);
  const closed = () => client.of(SdkType.StateClosed).map((message) => message.uint32(SdkHeader.ConnectionId));
  for (let turn = 0; turn < 5_000 && closed().length < 2; turn++) await settled();
  t.same(closed(), [8, 7], 'the message of the other circuit does not wait for the first one');
  client.channel.close();
});

t.test('a circuit that takes no data ends, and holds up the others no longer', async (t) => {
  const { clients, connect, clock } = sdkRooms();
  const client = await connect();
  const [connection] = clients.all();
  if (!connection) throw new Error('the client is not connected');
  const cuts: number[] = [];
  const add = (connectionId: number) => {
    const end: ClientEnd & { waiting: number } = {
      ...{ connectionId, waiting: 0, onClosed: () => undefined, onLost: () => false },
      cut: () => {
        cuts.push(connectionId);
        connection.hold(end, -end.waiting);
        connection.remove(connectionId, end);
      },
    };
    connection.put(connectionId, end, {} as Right);
    return (bytes: number) => {
      end.waiting += bytes;
      connection.hold(end, bytes);
    };
  };
  const pass = async (seconds: number, act: () => void = () => undefined) => {
    for (let second = 0; second < seconds; second++) {
      act();
      await clock.advance(1_000);
      await settled(); // the client answers heartbeats
    }
  };
  const stalled = add(1);
  stalled(1_200_000);
  await pass(25);
  t.same(cuts, [], 'a client with one circuit may wait as long as it likes');
  const slow = add(2);
  slow(100_000);
  await pass(15, () => {
    slow(-10_000);
    slow(10_000);
  });
  t.same(cuts, [1], 'one that is only slow stays');
  const next = add(3);
  next(1_200_000);
  await pass(5);
  next(-1_200_000);
  next(1_200_000);
  await pass(6);
  t.same(cuts, [1], 'one that took its data has the time anew');
  connection.onClosed();
  client.channel.close();
});

t.test('messages of one circuit that its client does not read end this circuit only', async (t) => {
  const { clients, connect } = sdkRooms();
  const client = await connect();
  const [connection] = clients.all();
  if (!connection) throw new Error('the client is not connected');
  const cuts: number[] = [];
  for (const connectionId of [7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17]) {
    const end: ClientEnd = {
      ...{ connectionId, onClosed: () => undefined, onLost: () => false },
      cut: () => {
        cuts.push(connectionId);
        connection.remove(connectionId, end);
      },
    };
    connection.put(connectionId, end, {} as Right);
  }
  client.channel.setReading(false);
  const send = (id: number, size: number) =>
    connection.send(new Message(SdkType.StateClosed, [[SdkHeader.ConnectionId, encodeUint32(id)]], Buffer.alloc(size)));
  const overfill = (id: number, size: number) => {
    for (let sent = 0; sent < 30_000 && connection.isUsed(id); sent++) send(id, size);
    t.same(cuts.splice(0), [id]);
  };
  overfill(7, 1_000);
  send(8, 1_000);
  await settled();
  t.notOk(connection.isClosed, 'the client stays');
  t.ok(connection.isUsed(8));
  for (const id of [9, 10, 11, 12]) overfill(id, 500);
  for (const id of [13, 14, 15, 16]) overfill(id, 3_000);
  await settled();
  t.notOk(connection.isClosed, 'messages of circuits that ended count no longer');
  t.ok(connection.isUsed(8) && connection.isUsed(17));
  client.channel.close();
});
