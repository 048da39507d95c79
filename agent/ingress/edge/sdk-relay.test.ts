// Circuits of SDK clients with their own flow control, and how they end: the client may hold data that its application
// has not read yet, and drops it when the router closes the connection.

import t from 'tap';
import { Frame } from '#wire/frame.ts';
import { PayloadFlag, SdkHeader, SdkType, XgressType } from '#wire/gen/numbers.ts';
import { TRUE } from '#wire/header-values.ts';
import { Message } from '#wire/message.ts';
import { Acknowledgement, Payload } from '#wire/xgress-frames.ts';
import { type RoomClient, sdkRooms, settled } from '../../../test/support/sdk-rooms.ts';
import { defaultXgressOptions } from '../../config/xgress-defaults.ts';
import { PayloadOrigin } from '../../forwarder/destination.ts';
import { FIN_HEADERS } from '../../xgress/end-marks.ts';

const { maxCloseWaitMs } = defaultXgressOptions();

/** A dialed circuit. `deliver` sends payloads of the host to the client. */
async function dialed() {
  const rooms = sdkRooms();
  const client = await rooms.connect();
  const payloads: Payload[] = [];
  client.channel.onFrame(XgressType.Payload, (frame) => void payloads.push(Payload.fromFrame(frame).copy()));
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

t.test('a client that makes no progress after the end of its circuit is closed', async (t) => {
  const { client, clients, clock, circuitId, deliver, closed, forwarder } = await dialed();
  deliver(0, PayloadFlag.Eof);
  forwarder.remove(circuitId);
  for (let turn = 0; turn < 3; turn++) {
    await clock.advance(maxCloseWaitMs - 1);
    const acknowledgement = Acknowledgement.create(circuitId, 0, 1_000, 0, []);
    client.channel.trySendFrame(acknowledgement.bytes, undefined, 'default');
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
    client.channel.trySendFrame(acknowledgement.bytes, undefined, 'default');
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
