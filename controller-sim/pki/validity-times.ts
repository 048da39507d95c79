// The times at which certificates must be valid. A test may set an earlier time than that of the certificates that
// exist: they are accepted, as they are valid for the real time. They expire by the time of the simulator.

import { realTime } from '#lib/time/advancing-clock.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { ChainOptions } from '#pki/certificate-chain.ts';

export function validityTimes(clock: Clock): { readonly now: number } & Pick<ChainOptions, 'latest'> {
  const now = clock.now();
  return { now, latest: Math.max(now, realTime(clock)) };
}
