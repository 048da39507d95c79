// Handshakes begin one after another: quickly in an idle process, slowly in a busy one, and sources take turns.

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

t.test('a lone client begins at once', async (t) => {
  const { clock, begun, request } = rooms({ isIdle: false });
  for (let count = 1; count < 4; count++) {
    request('a');
    t.equal(begun.length, count);
    await clock.advance(5);
  }
  t.same(clock.timers(), []);
});

t.test('many begin a millisecond apart in an idle process, ten in a busy one', async (t) => {
  for (const [isIdle, expected] of [
    [true, 101],
    [false, 11],
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
  await clock.advance(40);
  t.same(begun, ['s', 's', 'r1', 's', 'r2']);
  turns.close();
  await clock.advance(1_000);
  t.equal(begun.length, 5);
});

t.test('a client that is gone loses its place', async (t) => {
  const { clock, begun, turns } = rooms({ isIdle: false });
  turns.request('a', () => begun.push('first'));
  const places = Array.from({ length: 1_000 }, () => turns.request('a', () => begun.push('gone')));
  for (const giveUp of places) giveUp();
  turns.request('b', () => begun.push('next'));
  await clock.advance(10);
  t.same(begun, ['first', 'next']);
  await clock.advance(10);
  t.same(clock.timers(), []);
});
