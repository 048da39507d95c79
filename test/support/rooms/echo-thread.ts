// The program of an I/O thread for tests: what it receives comes back.

import { type Crossing, CrossingRecord } from '#lib/threads/crossings.ts';
import { hostCrossings } from '#lib/threads/thread-host.ts';

/** Sends each record back, the bytes inverted. Messages come back, too; `end` closes the crossing, `throw` throws. */
function echo(crossing: Crossing, { greeting }: { greeting: string }): void {
  let held = false;
  crossing.owner = {
    onTurn() {
      const { received, sent } = crossing;
      let worked = false;
      while (held || received.next()) {
        const room = sent.reserve(received.data.length);
        held = room === undefined;
        if (!room) break;
        for (let at = 0; at < room.length; at++) room[at] = (received.data[at] as number) ^ 0xff;
        sent.commit(received.kind, room.length);
        crossing.release();
        worked = true;
      }
      crossing.publish();
      return worked;
    },
    onMessage(message) {
      if (message === 'throw') throw new Error('as asked');
      if (message === 'end') crossing.close();
      else crossing.post({ greeting, message, hint: crossing.received.hint, end: CrossingRecord.End });
    },
    onLost: () => undefined,
  };
}

hostCrossings({
  echo,
  refuse: () => {
    throw new Error('no such connection');
  },
});
