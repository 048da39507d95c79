// The lanes of a control channel, for both ends (reference fact: control channel, section 1.7).

import { DEFAULT_LANE, type LanePolicy } from './send-lanes.ts';

/** Types of the underlays of a grouped control channel. */
export const ControlUnderlay = Object.freeze({ Default: 'ctrl.default', High: 'ctrl.high' } as const);
/** The lane for messages that a circuit waits for: routes, results and circuit requests. */
export const HIGH_LANE = 'high';
/** Messages that wait in each lane. */
const LANE_QUEUE = 4_096;

/** Each lane prefers the underlay of its own type; without one it uses the other's. */
export const CONTROL_LANES: Readonly<Record<string, LanePolicy>> = Object.freeze({
  [DEFAULT_LANE]: { types: [ControlUnderlay.Default, ControlUnderlay.High], queueLimit: LANE_QUEUE },
  [HIGH_LANE]: { types: [ControlUnderlay.High, ControlUnderlay.Default], queueLimit: LANE_QUEUE },
});

/** The one lane of a channel that is a single connection. */
export const SINGLE_CONTROL_LANE: Readonly<Record<string, LanePolicy>> = Object.freeze({
  [DEFAULT_LANE]: { types: [''], queueLimit: LANE_QUEUE },
});
