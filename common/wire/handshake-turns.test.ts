// A few handshakes begin at once; more begin one after another: quickly in an idle process, slowly in a busy one, and
// sources take turns.

import t from 'tap';
import { VirtualClock } from '#lib/clock.ts';
import { HandshakeTurns } from './handshake-turns.ts';

function rooms({ isIdle }: { isIdle: boolean }) {
  const clock = new VirtualClock();
  const begun: string[] = [];
  const turns = new HandshakeTurns(clock, () => (isIdle ? clock.monotonic() : 0));
  const request = (source: string, name = source) => turns.request(source, () => void begun.push(name));
  return { clock, begun, turns, request };
}

t.test('a few begin at once, and again after a while', async (t) => {
  const { clock, begun, request } = rooms({ isIdle: false });
  for (let count = 1; count <= 20; count++) {
    for (let each = 0; each < 8; each++) request('a');
    t.equal(begun.length, 8 * count);
    await clock.advance(500);
  }
  t.same(clock.timers(), []);
});

t.test('more than a few begin a millisecond apart in an idle process, ten in a busy one', async (t) => {
  for (const [isIdle, expected] of [
    [true, 108],
    [false, 18],
  ] as const) {
    const { clock, begun, request } = rooms({ isIdle });
    for (let count = 0; count < 200; count++) request('a');
    await clock.advance(100);
    t.equal(begun.length, expected);
  }
});

t.test('a source with many waits for others', async (t) => {
  const { clock, begun, request, turns } = rooms({ isIdle: false });
  for (let count = 0; count < 50; count++) request('stranger', 's');
  request('router', 'r1');
  request('router', 'r2');
  t.equal(begun.length, 8);
  await clock.advance(40);
  t.same(begun.slice(8), ['s', 'r1', 's', 'r2']);
  turns.close();
  await clock.advance(1_000);
  t.equal(begun.length, 12);
});

t.test('a client that is gone loses its place', async (t) => {
  const { clock, begun, turns } = rooms({ isIdle: false });
  for (let count = 0; count < 8; count++) turns.request('a', () => begun.push('first'));
  const places = Array.from({ length: 1_000 }, () => turns.request('a', () => begun.push('gone')));
  for (const giveUp of places) giveUp();
  turns.request('b', () => begun.push('next'));
  await clock.advance(10);
  t.same(begun.slice(7), ['first', 'next']);
  await clock.advance(10);
  t.same(clock.timers(), []);
});
