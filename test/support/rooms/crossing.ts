// A crossing whose sides are both in the thread of the test.

import { type Crossing, CrossingSide, createAlarms, createCrossing, otherOf } from '#lib/threads/crossings.ts';
import type { CrossingKindPlaces } from '#lib/threads/io-threads.ts';

const RING_BYTES = 256 * 1024;
const INIT = { id: 1, slot: 0, kind: 'client' };

/** A kind of connections of tests: with as much as those of circuits. */
export function kindOf(name: string): CrossingKindPlaces {
  return { name, places: 64, ringBytes: 1024 * 1024 };
}

/** Both sides of a crossing in one thread. */
export function crossing(): { main: Crossing; thread: Crossing; messages: unknown[] } {
  const messages: unknown[] = [];
  const [own, other] = createAlarms(1);
  const here = createCrossing(RING_BYTES);
  const mainSide = new CrossingSide(own, (message) => threadSide.onMessage(message));
  const threadSide = new CrossingSide(other, (message) => mainSide.onMessage(message));
  const main = mainSide.add({ ...INIT, memory: here });
  main.owner = { onTurn: () => false, onMessage: (message) => messages.push(message), onLost: () => undefined };
  return { main, thread: threadSide.add({ ...INIT, memory: otherOf(here) }), messages };
}
