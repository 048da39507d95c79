// Checks of faults of connections: links, SDK clients, proxies of the lab.

import { requireFlags, requireTexts, requireWholeNumbers, withDelays } from '../input.ts';
import { InvalidError } from '../lab-error.ts';
import type { ConnectionFault, ConnectionRule } from './fault.ts';

const DURATIONS = ['latency', 'jitter', 'sliceDelay', 'closeDelay'] as const;
const EFFECTS = ['latency', 'bandwidth', 'slice', 'limit', 'closeDelay', 'stall', 'halfOpen', 'cut'] as const;
export const CONNECTION_FIELDS = ['direction', 'jitter', 'sliceDelay', ...EFFECTS];
/** Bytes, and bytes per second. */
const MAX_BYTES = 1024 * 1024 * 1024;

export function checkedConnection(fault: ConnectionFault): ConnectionRule {
  const { direction, latency, jitter, bandwidth, slice, sliceDelay, limit, stall, halfOpen, cut } = fault;
  requireTexts(
    fault.kind === 'proxy'
      ? { proxy: fault.proxy }
      : { router: fault.router, peer: fault.kind === 'link' ? fault.peer : undefined },
  );
  requireFlags({ stall, halfOpen, cut });
  if (direction !== undefined && direction !== 'up' && direction !== 'down')
    throw new InvalidError('direction', 'use up (from the side that dials) or down (to it)', direction);
  requireWholeNumbers({ bandwidth, slice, limit }, 1, MAX_BYTES);
  if (!EFFECTS.some((name) => name in fault))
    throw new InvalidError('latency', `the fault has no effect; use ${EFFECTS.join(', ')}`, '');
  if (jitter !== undefined && latency === undefined)
    throw new InvalidError('jitter', 'jitter varies a latency; use latency too', jitter);
  if (sliceDelay !== undefined && slice === undefined)
    throw new InvalidError('sliceDelay', 'it is the time between two pieces; use slice too', sliceDelay);
  return withDelays(fault, DURATIONS) as ConnectionRule;
}
