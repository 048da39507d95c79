// The watch over the answers of a WebSocket's client, with a router that is busy or suspended meanwhile.

import { EventEmitter } from 'node:events';
import t from 'tap';
import { VirtualClock } from '#lib/time/clock.ts';
import { watchPongs } from './pong-watch.ts';

const LIMITS = { pingInterval: 10_000, pongTimeout: 25_000 };

/** Time passes without any timer, as in a process that is suspended. */
class SuspendedClock extends VirtualClock {
  lost = 0;

  override monotonic(): number {
    return super.monotonic() + this.lost;
  }
}

function watched(limits = LIMITS) {
  const clock = new SuspendedClock();
  const socket = Object.assign(new EventEmitter(), { isPaused: false, pings: 0, ping: () => void socket.pings++ });
  let silent = 0;
  const stop = watchPongs(socket, clock, limits, () => void silent++);
  return { clock, socket, stop, silent: () => silent };
}

t.test('a client that answers is pinged on; one that no longer does is reported once', async (t) => {
  const { clock, socket, silent } = watched();
  for (let round = 0; round < 10; round++) {
    await clock.advance(10_000);
    socket.emit('pong');
  }
  t.same([socket.pings, silent()], [10, 0]);
  await clock.advance(60_000);
  t.same([socket.pings, silent()], [12, 1]);
  t.same(clock.timers(), []);
});

t.test('answers that arrived while the router was suspended count', async (t) => {
  const { clock, socket, silent, stop } = watched();
  await clock.advance(10_000);
  clock.lost = 3_600_000;
  await clock.advance(10_000);
  t.equal(silent(), 0, 'the answer to the first ping was not read yet');
  socket.emit('pong');
  await clock.advance(21_000);
  t.same([socket.pings, silent()], [3, 0]);
  stop();
  t.same(clock.timers(), []);
});

t.test('a client from which the router does not read is not late', async (t) => {
  const { clock, socket, silent, stop } = watched();
  socket.isPaused = true;
  await clock.advance(100_000);
  t.equal(silent(), 0);
  socket.isPaused = false;
  await clock.advance(20_000);
  t.equal(silent(), 0, 'it has the whole time to answer');
  await clock.advance(20_000);
  t.equal(silent(), 1);
  stop();
});

t.test('without an interval there are no pings', async (t) => {
  const { clock, socket, silent, stop } = watched({ ...LIMITS, pingInterval: 0 });
  await clock.advance(600_000);
  t.same([socket.pings, silent(), clock.timers()], [0, 0, []]);
  stop();
});
