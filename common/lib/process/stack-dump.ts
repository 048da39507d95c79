// The activity of the process: the inspection `stackdump`, and the report that SIGQUIT requests. The single stack of
// this program is empty whenever it runs, so timers and open handles take the place of the reference's goroutines.
// Contains neither the environment nor other data of the process.

import type { Clock } from '../time/clock.ts';

export function stackDump(clock: Clock): string {
  const { rss, heapTotal, heapUsed, external, arrayBuffers } = process.memoryUsage();
  const { utilization, active, idle } = performance.eventLoopUtilization();
  const { user, system } = process.cpuUsage();
  return [
    `event loop: ${(utilization * 100).toFixed(1)} % busy, ${Math.round(active)} ms of ${Math.round(active + idle)} ms`,
    `process: pid ${process.pid}, up ${Math.round(process.uptime())} s, cpu ${Math.round((user + system) / 1_000)} ms, node ${process.version}`,
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

/** Each name once, with its number of occurrences. */
function counted(names: readonly string[]): string[] {
  const groups = Object.entries(Object.groupBy(names, (name) => name));
  return groups.map(([name, each]) => `  ${each?.length ?? 0} ${name}`).sort();
}
