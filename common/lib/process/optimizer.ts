// V8's optimizing compiler, TurboFan, needs tens of milliseconds of a core for each of many functions. On machines with
// few cores, the first traffic waits for it: p99 of 10,000 round trips is twice as long (docs/experiments.md). The
// compilers before it need little time, and their code is nearly as fast.

import { setFlagsFromString } from 'node:v8';
import type { Clock } from '../time/clock.ts';

const INTERVAL = 500;
/** As long as a router needs for about 10,000 round trips or 2,000 short circuits. */
const DELAY = 2_000;

/**
 * Disables TurboFan until this process has used `milliseconds` of processor time. Call it when all code is loaded:
 * Node's cache of compiled code is only valid for the flags that it was compiled with.
 */
export function delayOptimization(clock: Clock, milliseconds = DELAY): void {
  const start = processorTime();
  // otherwise Maglev compiles code that never becomes a candidate for TurboFan
  setFlagsFromString('--force-emit-interrupt-budget-checks');
  setFlagsFromString('--no-turbofan');
  const timer = clock.every('optimizing compiler', INTERVAL, () => {
    if (processorTime() - start < milliseconds) return;
    timer.cancel();
    setFlagsFromString('--turbofan');
  });
}

/** In milliseconds. */
function processorTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
