// Changes of routers as others receive them: what each knows in the end, and the number of messages.

import { fromBinary } from '@bufbuild/protobuf';
import t from 'tap';
import { VirtualClock } from '#lib/time/clock.ts';
import { PeerState, PeerStateChangesSchema } from '#wire/gen/control_pb.js';
import type { Message } from '#wire/message.ts';
import type { ConnectedRouter } from './connected-router.ts';
import { PeerAnnouncements } from './peer-announcements.ts';

class Room {
  readonly clock = new VirtualClock();
  readonly routers = new Map<string, ConnectedRouter>();
  readonly peers = new PeerAnnouncements({ clock: this.clock, routers: this.routers, linkVersion: undefined });
  /** Router → what it was told of others, the latest state of each. */
  readonly told = new Map<string, Map<string, string>>();
  messages = 0;

  connect(id: string): void {
    const known = new Map<string, string>();
    this.told.set(id, known);
    const trySend = ({ body }: Message) => {
      this.messages++;
      for (const change of fromBinary(PeerStateChangesSchema, body).changes)
        known.set(change.id, `${PeerState[change.state]} ${change.listeners.map(({ address }) => address)}`.trim());
    };
    const linkListeners = [
      { address: `tls:${id}:6000`, protocol: 'tls', costTags: [], groups: [], localInterface: '' },
    ];
    const router = { id, version: { version: 'v1' }, linkListeners, channel: { trySend } };
    this.routers.set(id, router as unknown as ConnectedRouter);
    this.peers.connected(router as unknown as ConnectedRouter);
  }

  leave(id: string): void {
    this.routers.delete(id);
    this.peers.changed(id, PeerState.UNHEALTHY);
  }
}

t.test('few routers learn of each change at once', async (t) => {
  const room = new Room();
  for (const id of ['a', 'b', 'c']) room.connect(id);
  t.same(
    [...(room.told.get('a') ?? [])],
    [
      ['b', 'HEALTHY tls:b:6000'],
      ['c', 'HEALTHY tls:c:6000'],
    ],
  );
  t.same([...(room.told.get('c') ?? [])].length, 2);
  room.leave('b');
  t.equal(room.told.get('a')?.get('b'), 'UNHEALTHY');
});

t.test(
  'many routers learn of several changes in one message, and each has the latest state of all others',
  async (t) => {
    const room = new Room();
    const count = 400;
    for (let index = 0; index < count; index++) {
      room.connect(`r${index}`);
      if (index % 10 === 9) await room.clock.advance(10);
    }
    room.leave('r7');
    room.leave('r8');
    room.connect('r8');
    await room.clock.advance(1_000);
    t.ok(room.messages < (count * count) / 10, `${room.messages} messages for ${count} routers`);
    const wrong = [...room.routers.keys()].filter((id) => {
      const known = room.told.get(id);
      const others = [...room.routers.keys()].filter((other) => other !== id);
      return (
        known?.get(id) !== undefined || !others.every((other) => known?.get(other) === `HEALTHY tls:${other}:6000`)
      );
    });
    t.same(wrong, []);
    t.equal(room.told.get('r9')?.get('r7'), 'UNHEALTHY');
    room.leave('r1');
    room.peers.close();
    const before = room.messages;
    await room.clock.advance(1_000);
    t.equal(room.messages, before, 'nothing is sent after the end');
  },
);
