// The lanes of a control channel, for both ends (reference fact: control channel, section 1.7).

import { DEFAULT_LANE, type LaneMap, LaneName } from '../lanes/lane-name.ts';
import type { LanePolicy } from '../lanes/send-lanes.ts';

/** Types of the underlays of a grouped control channel. */
export const ControlUnderlay = Object.freeze({ Default: 'ctrl.default', High: 'ctrl.high' } as const);
/** The lane for messages that a circuit waits for: routes, results and circuit requests. */
export const HIGH_LANE = new LaneName('high');
/** Messages that wait in each lane. */
const LANE_QUEUE = 4_096;
/** Bytes of these: a peer may cause large messages, to others or to itself, faster than they are read. */
const LANE_BYTES = 64 * 1024 * 1024;

/**
 * Each lane prefers the underlay of its own type; without one it uses the other's. `outQueueSize` can raise the limit
 * of waiting messages, not lower it: the reference's writers wait for a place in short queues, ours would lose
 * messages.
 */
export function controlLanes(outQueueSize = 0): LaneMap<LanePolicy> {
  const queueLimit = Math.max(LANE_QUEUE, outQueueSize);
  return new Map([
    [DEFAULT_LANE, { types: [ControlUnderlay.Default, ControlUnderlay.High], queueLimit, byteLimit: LANE_BYTES }],
    [HIGH_LANE, { types: [ControlUnderlay.High, ControlUnderlay.Default], queueLimit, byteLimit: LANE_BYTES }],
  ]);
}

/** The one lane of a channel that is a single connection. */
export const SINGLE_CONTROL_LANE: LaneMap<LanePolicy> = new Map([
  [DEFAULT_LANE, { types: [''], queueLimit: LANE_QUEUE, byteLimit: LANE_BYTES }],
]);
