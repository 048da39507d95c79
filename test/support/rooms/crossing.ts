// A crossing whose sides are both in the thread of the test.

import { type Crossing, CrossingSide, createAlarms, createCrossing, otherOf } from '#lib/threads/crossings.ts';

const RING_BYTES = 256 * 1024;

/** Both sides of a crossing in one thread. */
export function crossing(): { main: Crossing; thread: Crossing; messages: unknown[] } {
  const messages: unknown[] = [];
  const [own, other] = createAlarms();
  const here = createCrossing(RING_BYTES);
  const mainSide = new CrossingSide(own, (message) => threadSide.onMessage(message));
  const threadSide = new CrossingSide(other, (message) => mainSide.onMessage(message));
  const main = mainSide.add(1, here, 'client');
  main.owner = { onTurn: () => false, onMessage: (message) => messages.push(message), onLost: () => undefined };
  return { main, thread: threadSide.add(1, otherOf(here), 'client'), messages };
}
