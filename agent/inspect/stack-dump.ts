// The inspection `stackdump`. This program has one stack, which is empty whenever it can be asked: what is open and waits stands in
// place of the reference's goroutines.

import type { Clock } from '#lib/clock.ts';

export function stackDump(clock: Clock): string {
  const { rss, heapTotal, heapUsed, external, arrayBuffers } = process.memoryUsage();
  const { utilization, active, idle } = performance.eventLoopUtilization();
  return [
    `event loop: ${(utilization * 100).toFixed(1)} % busy, ${Math.round(active)} ms of ${Math.round(active + idle)} ms`,
    `memory: rss ${rss}, heap ${heapUsed} of ${heapTotal}, external ${external}, buffers ${arrayBuffers}`,
    '',
    'timers:',
    ...counted(clock.timers()),
    '',
    'open:',
    ...counted(process.getActiveResourcesInfo()),
    '',
  ].join('\n');
}

/** Each name once, with how often it occurs. */
function counted(names: readonly string[]): string[] {
  const groups = Object.entries(Object.groupBy(names, (name) => name));
  return groups.map(([name, each]) => `  ${each?.length ?? 0} ${name}`).sort();
}
