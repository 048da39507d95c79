// When circuits are removed that a controller no longer has.

import t from 'tap';
import { silentLog } from '#lib/log/log.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import type { CircuitEnd } from './destination.ts';
import { Forwarder } from './forwarder.ts';
import { Unrouter } from './unrouter.ts';

const CIRCUIT = 'circuit';
const INTERVAL = 5_000;

/** A circuit with an end at this router, or without one. */
function routed(hasEnd: boolean) {
  const clock = new VirtualClock();
  const forwarder = new Forwarder({ clock, log: silentLog, routerId: 'r' });
  const unrouter = new Unrouter({ clock, log: silentLog, forwarder }, INTERVAL);
  forwarder.circuits.open(CIRCUIT, 'controller', {});
  const end = { address: 'a', circuitId: CIRCUIT, lastReceived: 0, isSettled: false, unrouted: () => undefined };
  if (hasEnd) forwarder.registerEnd(end as unknown as CircuitEnd);
  return { clock, forwarder, unrouter, end, isHere: () => forwarder.circuits.size === 1 };
}

t.test('a circuit whose end is settled is removed at once', (t) => {
  const { unrouter, end, isHere, clock } = routed(true);
  end.isSettled = true;
  unrouter.unroute(CIRCUIT, false);
  t.notOk(isHere());
  t.same(clock.timers(), []);
  t.end();
});

t.test('a circuit is removed as soon as its end is settled', async (t) => {
  const { unrouter, end, isHere, clock, forwarder } = routed(true);
  forwarder.settled(CIRCUIT);
  t.ok(isHere(), 'the controller still has it');
  unrouter.unroute(CIRCUIT, false);
  await clock.advance(1_000);
  forwarder.settled(CIRCUIT);
  t.ok(isHere(), 'another end is not settled');
  end.isSettled = true;
  forwarder.settled(CIRCUIT);
  t.notOk(isHere());
});

t.test('without the end of the peer, and at routers without an end, silence removes a circuit', async (t) => {
  for (const hasEnd of [true, false]) {
    const { unrouter, isHere, clock } = routed(hasEnd);
    unrouter.unroute(CIRCUIT, false);
    await clock.advance(INTERVAL - 1);
    t.ok(isHere());
    await clock.advance(1);
    t.notOk(isHere());
  }
});

t.test('the controller may demand the removal at once', (t) => {
  const { unrouter, isHere } = routed(true);
  unrouter.unroute(CIRCUIT, true);
  t.notOk(isHere());
  t.end();
});

t.test('a router that stops checks no circuit any more', async (t) => {
  const { unrouter, isHere, clock } = routed(true);
  unrouter.unroute(CIRCUIT, false);
  unrouter.close();
  t.same(clock.timers(), []);
  await clock.advance(INTERVAL);
  t.ok(isHere(), 'whoever stops the router removes its circuits');
});
