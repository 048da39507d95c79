// Circuits of SDK clients with their own flow control, and how they end: the client may hold data that its application
// has not read yet, and drops it when the router closes the connection.

import t from 'tap';
import { BufferPool } from '#lib/queue/buffer-pool.ts';
import { Frame } from '#wire/frame.ts';
import { PayloadFlag, SdkHeader, SdkType, XgressType } from '#wire/gen/numbers.ts';
import { TRUE } from '#wire/header-values.ts';
import { Message } from '#wire/message.ts';
import { Acknowledgement, Payload } from '#wire/xgress-frames.ts';
import { type RoomClient, sdkRooms, settled } from '../../../../test/support/rooms/sdk-rooms.ts';
import { defaultXgressOptions } from '../../../config/xgress-defaults.ts';
import { PayloadOrigin } from '../../../forwarder/destination.ts';
import { FIN_HEADERS } from '../../../xgress/end-marks.ts';

const { maxCloseWaitMs } = defaultXgressOptions();

/** A dialed circuit. `deliver` sends payloads of the host to the client. */
async function dialed() {
  const rooms = sdkRooms();
  const client = await rooms.connect();
  const payloads: Payload[] = [];
  client.channel.onFrame(
    XgressType.Payload,
    (frame) => void payloads.push(Payload.fromFrame(frame).copy(new BufferPool())),
  );
  const circuitId = (await client.dial(1, [[SdkHeader.UseXgressToSdk, TRUE]])).string(SdkHeader.CircuitId) ?? '';
  const deliver = (sequence: number, flags: number, data = '', headers?: ReadonlyMap<number, Buffer>) => {
    const payload = Payload.create(circuitId, sequence, flags | PayloadFlag.Originator, Buffer.from(data), headers);
    rooms.forwarder.forwardPayload(`${circuitId}-egress`, payload, PayloadOrigin.Forwarded);
  };
  const closed = () => client.of(SdkType.StateClosed).map(({ body }) => body.toString());
  return { ...rooms, client, circuitId, payloads, deliver, closed };
}

/** The client has finished: its application has read everything. */
function finish({ channel }: RoomClient, circuitId: string): void {
  channel.send(new Message(XgressType.Close, [], circuitId));
}

t.test('a client reads on when its circuit is removed after the end of its peer', async (t) => {
  for (const end of [PayloadFlag.Eof, PayloadFlag.CircuitEnd]) {
    const { client, clients, circuitId, deliver, closed, ends, forwarder, payloads, sent } = await dialed();
    deliver(0, 0, 'data');
    deliver(1, end);
    forwarder.remove(circuitId);
    await settled();
    t.same(closed(), [], 'a close message would make the client drop what it has not read');
    t.equal(ends.count, 0, 'a drain does not wait for it');
    t.same(
      payloads.map(({ sequence, flags }) => [sequence, flags & ~PayloadFlag.Originator]),
      [
        [0, 0],
        [1, end],
        [2, PayloadFlag.WriteFailed],
      ],
      'the client may not send',
    );
    finish(client, circuitId);
    await settled();
    t.equal(clients.ends, 0);
    t.same([closed(), sent], [[], []], 'neither the client nor the controller is notified of a known end');
    t.equal((await client.dial(1)).contentType, SdkType.StateConnected, 'the connection id is free');
    client.channel.close();
  }
});

t.test('a circuit end alone may be a half close: the client sends on', async (t) => {
  const { client, deliver, ends, forwarder } = await dialed();
  deliver(0, 0, 'data');
  deliver(1, PayloadFlag.CircuitEnd);
  await settled();
  t.equal(ends.count, 1);
  t.equal(forwarder.circuits.size, 1);
  client.channel.close();
});

t.test('a client reads on after a half close of its peer, which does not send another end in time', async (t) => {
  const { client, circuitId, closed, deliver, forwarder, payloads } = await dialed();
  deliver(0, 0, 'data');
  deliver(1, 0, '', FIN_HEADERS);
  forwarder.remove(circuitId);
  await settled();
  t.same(closed(), []);
  t.equal(payloads.length, 3);
  client.channel.close();
});

t.test('an end is settled when both sides have ended their data, without a circuit end of either', async (t) => {
  const { client, circuitId, deliver, forwarder } = await dialed();
  const isSettled = () => forwarder.endsOf(circuitId).map((end) => end.isSettled);
  deliver(0, 0, 'data');
  deliver(1, PayloadFlag.Eof);
  await settled();
  t.same(isSettled(), [false], 'the client may still send');
  const end = Payload.create(circuitId, 0, PayloadFlag.Eof, Buffer.alloc(0));
  client.channel.lane().trySendFrame(end.bytes, undefined);
  await settled();
  t.same(isSettled(), [true], 'its router removes the circuit as soon as the controller has');
  client.channel.close();
});

t.test('a client that makes no progress after the end of its circuit is closed', async (t) => {
  const { client, clients, clock, circuitId, deliver, closed, forwarder } = await dialed();
  deliver(0, PayloadFlag.Eof);
  forwarder.remove(circuitId);
  for (let turn = 0; turn < 3; turn++) {
    await clock.advance(maxCloseWaitMs - 1);
    const acknowledgement = Acknowledgement.create(circuitId, 0, 1_000, 0, []);
    client.channel.lane().trySendFrame(acknowledgement.bytes, undefined);
    await settled();
  }
  t.same(closed(), [], 'an acknowledgement reports that the application reads');
  await clock.advance(maxCloseWaitMs);
  await settled();
  t.same(closed(), ['xgress unrouted']);
  t.equal(clients.ends, 0);
  client.channel.close();
});

t.test('a client is closed at once when its circuit is removed before the end of its peer', async (t) => {
  const { client, clients, circuitId, deliver, closed, forwarder, payloads } = await dialed();
  deliver(0, 0, 'data');
  forwarder.remove(circuitId);
  await settled();
  t.same(closed(), ['xgress unrouted']);
  t.equal(payloads.length, 1);
  t.equal(clients.ends, 0);
  client.channel.close();
});

t.test('nothing of an ended circuit remains when its client disconnects', async (t) => {
  const { client, clients, clock, circuitId, deliver, forwarder, sent } = await dialed();
  deliver(0, PayloadFlag.Eof);
  forwarder.remove(circuitId);
  await settled();
  t.ok(clock.timers().includes('client reads on'));
  client.channel.close();
  await settled();
  t.equal(clients.ends, 0);
  t.notOk(clock.timers().includes('client reads on'));
  t.same(sent, []);
});

t.test('the sender of a slow client is slowed down before its payloads are dropped', async (t) => {
  const { client, circuitId, deliver, forwarder } = await dialed();
  const reported: number[] = [];
  forwarder.forwardAcknowledgement = (_source, { bytes }) => {
    reported.push(Acknowledgement.fromFrame(new Frame(Buffer.from(bytes))).receiveBufferSize);
    return 'sent';
  };
  const acknowledge = async () => {
    const acknowledgement = Acknowledgement.create(circuitId, 0, 1_000, 0, []);
    client.channel.lane().trySendFrame(acknowledgement.bytes, undefined);
    await settled();
  };
  await acknowledge();
  client.channel.setReading(false);
  for (let sequence = 0; sequence < 40; sequence++) deliver(sequence, 0, 'x'.repeat(60_000));
  await acknowledge();
  t.equal(reported[0], 1_000, 'nothing waits');
  t.ok((reported[1] ?? 0) > 4 * 1024 * 1024, `${reported[1]} bytes`);
  client.channel.close();
});

/** A dialed circuit whose next hop counts what it gets. `send` is what a client does that ignores every window. */
async function counted() {
  const room = await dialed();
  const { client, circuitId, forwarder } = room;
  const got = { payloads: 0, bytes: 0, acknowledgements: 0, sequences: new Set<number>() };
  const link = {
    address: `${circuitId}-egress`,
    acceptPayload: ({ dataLength, sequence }: Payload) => {
      got.payloads++;
      got.bytes += dataLength;
      got.sequences.add(sequence);
      return true;
    },
    acceptAcknowledgement: () => ++got.acknowledgements > 0,
    acceptControl: () => true,
    onceWritable: () => undefined,
  };
  forwarder.registerLink(link);
  const send = async (sequence: number, data: Buffer) => {
    client.channel.lane().trySendFrame(Payload.create(circuitId, sequence, 0, data).bytes, undefined);
    if (sequence % 50 === 49) await settled();
  };
  /** The host acknowledges. */
  const acknowledge = (sequences: number[]) =>
    forwarder.forwardAcknowledgement(
      link.address,
      Acknowledgement.create(circuitId, PayloadFlag.Originator, 0, 0, sequences),
    );
  return { ...room, got, send, acknowledge };
}

t.test('a payload that the client repeats after its acknowledgement does not keep the circuit', async (t) => {
  const { client, circuitId, deliver, forwarder, send, acknowledge } = await counted();
  for (const [sequence, data] of ['one', 'two', 'three'].entries()) await send(sequence, Buffer.from(data));
  await settled();
  acknowledge([2, 0]);
  acknowledge([1]);
  await settled();
  await send(1, Buffer.from('two')); // the acknowledgement was on the way to the client
  const end = Payload.create(circuitId, 3, PayloadFlag.Eof, Buffer.alloc(0));
  client.channel.lane().trySendFrame(end.bytes, undefined);
  deliver(0, PayloadFlag.Eof);
  await settled();
  const isSettled = forwarder.endsOf(circuitId).map((each) => each.isSettled);
  t.same(isSettled, [true]);
  client.channel.close();
});

t.test('a circuit is released when its peer has closed it, without the controller and without a wait', async (t) => {
  const { client, clients, circuitId, deliver, closed, ends, forwarder, payloads, sent, send, acknowledge } =
    await counted();
  await send(0, Buffer.from('data'));
  await settled();
  deliver(0, 0, 'data');
  deliver(3, PayloadFlag.CircuitEnd);
  deliver(2, PayloadFlag.Eof);
  t.equal(ends.count, 1, 'a payload is missing');
  deliver(1, 0, 'more');
  t.equal(ends.count, 1, 'the peer may have acknowledged the data of the client');
  acknowledge([0]);
  t.equal(ends.count, 0);
  t.equal(forwarder.circuits.size, 0);
  await settled();
  t.equal(sent.length, 1, 'the controller is notified');
  t.same(closed(), [], 'the client reads on');
  t.equal((payloads.at(-1)?.flags ?? 0) & PayloadFlag.WriteFailed, PayloadFlag.WriteFailed, 'and may not send');
  finish(client, circuitId);
  await settled();
  t.equal(clients.ends, 0);
  client.channel.close();
});

t.test('a client that does not wait for acknowledgements gets no more than its window into the link', async (t) => {
  const window = 4 * 1024 * 1024;
  const floods: readonly (readonly [name: string, data: Buffer, count: number, sequenceOf: (n: number) => number])[] = [
    ['full payloads', Buffer.alloc(60_000), 300, (n) => n],
    ['payloads of a byte', Buffer.alloc(1), 6_000, (n) => n],
    ['the same payload', Buffer.alloc(60_000), 300, () => 0],
    ['payloads without data', Buffer.alloc(0), 6_000, (n) => n],
  ];
  for (const [name, data, count, sequenceOf] of floods) {
    const { client, clock, got, send } = await counted();
    for (let n = 0; n < count; n++) {
      await send(sequenceOf(n), data);
      if (n % 100 === 99) await clock.advance(1);
    }
    await settled();
    await clock.advance(20);
    t.ok(got.bytes <= window + data.length, `${name}: ${got.bytes} bytes`);
    t.ok(got.payloads <= 4_096, `${name}: ${got.payloads} payloads`);
    client.channel.close();
  }
});

t.test('a client that respects its window loses nothing, also if payloads are lost or small', async (t) => {
  for (const size of [60_000, 1_460]) {
    const { client, clock, got, send, acknowledge } = await counted();
    const data = Buffer.alloc(size);
    const total = Math.ceil((16 * 1024 * 1024) / size);
    let next = 0;
    let first = 0;
    while (first < total) {
      while (next < total && (next - first) * size <= 4 * 1024 * 1024) await send(next++, data);
      await settled();
      t.equal(got.sequences.size, next);
      const lost = first; // the client sends it again, three times
      for (let again = 0; again < 3; again++) {
        await clock.advance(200);
        await send(lost, data);
        await settled();
      }
      acknowledge(Array.from({ length: next - first }, (_each, index) => first + index));
      first = next;
    }
    t.equal(got.sequences.size, total);
    t.ok(got.payloads - total >= 9, 'retransmissions pass');
    client.channel.close();
  }
});

t.test('a client that goes on beyond its window is read more slowly', async (t) => {
  const { client, clients, clock, circuitId, deliver, got, send } = await counted();
  const [connection] = clients.all();
  let reading = 0;
  const setReading = connection?.channel.setReading.bind(connection.channel);
  if (connection) connection.channel.setReading = (isReading) => (reading++, setReading?.(isReading));
  for (let sequence = 0; sequence < 70; sequence++) await send(sequence, Buffer.alloc(60_000));
  await settled();
  t.equal(reading, 0, 'within the window');
  for (let sequence = 70; sequence < 400; sequence++) await send(sequence, Buffer.alloc(60_000));
  await settled();
  const waiting = client.channel.lane().queued;
  t.ok(waiting > 200, `${waiting} payloads are not read`);
  await clock.advance(100);
  await settled();
  t.ok(waiting - client.channel.lane().queued < 60, `${waiting - client.channel.lane().queued} in the next 100 ms`);
  for (let turn = 0; turn < 50; turn++) {
    await clock.advance(100);
    await settled();
  }
  t.equal(client.channel.lane().queued, 0);
  for (let sequence = 0; sequence < 1_000; sequence++) deliver(sequence, 0, 'x');
  for (let n = 0; n < 10_000; n++) {
    const { bytes } = Acknowledgement.create(circuitId, 0, 0, 0, [n % 1_000]);
    client.channel.lane().trySendFrame(bytes, undefined);
    if (n % 100 === 99) await settled();
  }
  for (let turn = 0; turn < 50; turn++) {
    await clock.advance(100);
    await settled();
  }
  t.ok(got.acknowledgements >= 1_000 && got.acknowledgements < 4_000, `${got.acknowledgements} acknowledgements`);
  client.channel.close();
});
