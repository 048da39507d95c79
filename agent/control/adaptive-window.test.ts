// The window of rate-limited requests adapts to the answers of controllers.

import t from 'tap';
import { silentLog } from '#lib/log/log.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { MetricsRegistry } from '../metrics/registry.ts';
import { AdaptiveWindow, type AdaptiveWindowInit, DEFAULT_WINDOW, type WindowPlace } from './adaptive-window.ts';

function window(init: Partial<AdaptiveWindowInit> = {}) {
  const clock = new VirtualClock();
  const metrics = new MetricsRegistry(clock, () => 0.5);
  const made = new AdaptiveWindow({ clock, log: silentLog, metrics }, { ...DEFAULT_WINDOW, ...init });
  const times = (count: number, end: (place: WindowPlace) => void) => {
    for (let each = 0; each < count; each++) end(made.begin() as WindowPlace);
  };
  return { clock, metrics, made, times };
}

t.test('the window bounds places, and each is released once', async (t) => {
  const { made, metrics } = window({ maxSize: 5 });
  const places = Array.from({ length: 5 }, () => made.begin());
  t.equal(made.begin(), undefined);
  t.equal(metrics.gauges.get('ctrl_limiter.in_process')?.(), 5);
  places[0]?.failed();
  places[0]?.success();
  t.ok(made.begin());
  t.equal(made.begin(), undefined, 'only one place was released');
  t.equal(metrics.timers.get('ctrl_limiter.work_timer')?.histogram.snapshot().count, 0);
});

t.test('the window shrinks while the controller is busy, and grows while it answers', async (t) => {
  const { made, times, metrics } = window({ minSize: 5, maxSize: 100 });
  times(9, (place) => place.backoff());
  t.equal(made.size, 100);
  times(1, (place) => place.backoff());
  t.equal(made.size, 90);
  times(1_000, (place) => place.backoff());
  t.equal(made.size, 5, 'never below its minimum');
  times(9, (place) => place.success());
  t.equal(made.size, 5);
  times(110, (place) => place.success());
  t.equal(made.size, 5, 'not before most answers are successes again');
  times(20, (place) => place.success());
  t.ok(made.size > 5);
  times(10_000, (place) => place.success());
  t.equal(made.size, 100, 'never above its maximum');
  t.equal(metrics.gauges.get('ctrl_limiter.window_size')?.(), 100);
  times(10, (place) => place.backoff());
  t.equal(made.size, 100, 'few rejections among many successes do not shrink it');
});

t.test('other failures do not change the window, and a disabled window has no bound', async (t) => {
  const { made, times } = window({ maxSize: 10 });
  times(100, (place) => place.failed());
  t.equal(made.size, 10);
  const off = window({ enabled: false, maxSize: 5 });
  t.ok(Array.from({ length: 100 }, () => off.made.begin()).every(Boolean));
});
