// The interval of the reports of sessions in use (`edge.heartbeatIntervalSeconds`).

/** Seconds. */
export const HEARTBEAT = Object.freeze({ least: 10, most: 60, default: 60 });

/** Seconds. reference fact: the default replaces a value out of bounds. */
export function heartbeatSeconds(given: number = HEARTBEAT.default): number {
  return given >= HEARTBEAT.least && given <= HEARTBEAT.most ? given : HEARTBEAT.default;
}
