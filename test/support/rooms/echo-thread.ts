// The program of an I/O thread for tests: what it receives comes back.

import { type Crossing, CrossingRecord } from '#lib/threads/crossings.ts';
import { hostCrossings } from '#lib/threads/thread-host.ts';

/**
 * Sends each record back, the bytes inverted. Messages come back, too; `end` closes the crossing, `throw` throws, and
 * shared memory makes the thread stand still until it has another value than 0.
 */
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
      if (message instanceof Int32Array) standStill(message);
      if (message === 'end') crossing.close();
      else crossing.post({ greeting, message, hint: crossing.received.hint, end: CrossingRecord.End });
    },
    onLost: () => undefined,
  };
}

function standStill(until: Int32Array): void {
  while (Atomics.load(until, 0) === 0);
}

hostCrossings({
  echo,
  refuse: () => {
    throw new Error('no such connection');
  },
});
