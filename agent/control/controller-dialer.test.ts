// The life of a controller's dialer.

import { getEventListeners } from 'node:events';
import t from 'tap';
import { VirtualClock } from '#lib/clock.ts';
import { silentLog } from '#lib/log.ts';
import { seededRandom } from '#lib/random.ts';
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
