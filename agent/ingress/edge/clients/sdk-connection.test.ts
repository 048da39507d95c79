// The ways of a client's circuits over its connection.

import t from 'tap';
import { SdkHeader, SdkType } from '#wire/gen/numbers.ts';
import { sdkRooms, settled } from '../../../../test/support/rooms/sdk-rooms.ts';
import type { ClientEnd } from '../ends/client-end.ts';
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
