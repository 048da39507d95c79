// The life of a controller's dialer.

import { getEventListeners } from 'node:events';
import t from 'tap';
import { silentLog } from '#lib/log/log.ts';
import { seededRandom } from '#lib/random.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import type { Controller } from './controller.ts';
import { ControllerDialer } from './controller-dialer.ts';

t.test('reconnections leave nothing behind', async (t) => {
  const clock = new VirtualClock();
  const signals = new Set<AbortSignal>();
  let connections = 0;
  const connect = async (_endpoint: string, signal: AbortSignal) => {
    connections++;
    signals.add(signal);
    const closed = clock.sleep(20_000).then(() => null);
    return { id: 'ctrl1', controller: { id: 'ctrl1', channel: { closed } } as unknown as Controller };
  };
  const components = { clock, log: silentLog, random: seededRandom(1), connect, connected: () => undefined };
  const dialer = new ControllerDialer(components, '', ['tls:127.0.0.1:1']);
  dialer.start();
  await clock.advance(600_000);
  t.ok(connections > 20, `${connections} connections`);
  const [signal, ...others] = signals;
  t.same(others, []);
  t.ok(signal && getEventListeners(signal, 'abort').length <= 1);
  dialer.stop();
  await clock.advance(20_000);
  t.same(clock.timers(), []);
  t.same(signal && getEventListeners(signal, 'abort'), []);
});

t.test('a new address of an unreachable controller is dialed at once', async (t) => {
  const clock = new VirtualClock();
  const dialed: string[] = [];
  const connect = async (endpoint: string) => {
    dialed.push(endpoint);
    throw new Error('unreachable');
  };
  const components = { clock, log: silentLog, random: seededRandom(1), connect, connected: () => undefined };
  const dialer = new ControllerDialer(components, 'ctrl1', ['tls:127.0.0.1:1']);
  dialer.start();
  await clock.advance(3_600_000);
  const before = dialed.length;
  dialer.move(['tls:127.0.0.1:1']);
  await clock.advance(1);
  t.equal(dialed.length, before, 'the same address');
  dialer.move(['tls:127.0.0.1:2', 'tls:127.0.0.1:3']);
  await clock.advance(100);
  t.same(dialed.slice(before), ['tls:127.0.0.1:2', 'tls:127.0.0.1:3'], 'with the waits of the first attempts');
  dialer.stop();
  await clock.advance(0);
  t.same(clock.timers(), []);
});

t.test(
  'a controller that closes each channel at once is dialed less and less often, until a channel lasts',
  async (t) => {
    const clock = new VirtualClock();
    /** Milliseconds that each channel lasts. */
    let life = 100;
    let closedAt = 0;
    const pauses: number[] = [];
    const connect = async () => {
      pauses.push(clock.monotonic() - closedAt);
      const closed = clock.sleep(life).then(() => {
        closedAt = clock.monotonic();
        return null;
      });
      return { id: 'ctrl1', controller: { id: 'ctrl1', channel: { closed } } as unknown as Controller };
    };
    const components = { clock, log: silentLog, random: seededRandom(1), connect, connected: () => undefined };
    const dialer = new ControllerDialer(components, '', ['tls:127.0.0.1:1']);
    dialer.start();
    await clock.advance(2 * 3_600_000);
    const [, ...growing] = pauses;
    t.equal(growing[0], 1_000);
    t.same(
      growing,
      growing.toSorted((a, b) => a - b),
      'no pause is shorter than the one before',
    );
    t.equal(growing.at(-1), 300_000, 'the longest pause');
    life = 20_000;
    await clock.advance(600_000);
    const last = pauses.length;
    t.equal(pauses.at(-1), 1_000, 'after a channel that lasted');
    life = 100;
    await clock.advance(60_000);
    t.equal(pauses[last], 1_000, 'the pauses grow from the beginning');
    t.ok((pauses[last + 1] ?? 0) <= 1_000, `${pauses[last + 1]} ms`);
    dialer.stop();
    await clock.advance(20_000);
    t.same(clock.timers(), []);
  },
);
