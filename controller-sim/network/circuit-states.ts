// The states of a circuit in the controller's view, as a table; circuits.ts and circuit-moves.ts perform the effects.
//
//   routing ──routed──► up ──reroute──► moving ──moved──► up
//      │reroute                            │reroute
//      ▼                                   ▼
//   routingStale ──routed──► moving     movingStale ──moved──► moving
//   every state ──end──► ended
//
// A circuit has at most one set of routes in flight: two would mix their forwards on routers that both paths share. A
// fault that arrives meanwhile makes the state stale, and the circuit moves (again) afterwards.

import { nextState, type Transitions } from '#lib/transitions.ts';

export type CircuitState =
  /** The routers of its first path have not all answered. */
  | 'routing'
  /** The same, and its path changed or failed since the routes were sent. */
  | 'routingStale'
  | 'up'
  /** Carries traffic over its old path while routers receive the routes of another one. */
  | 'moving'
  /** The same, and the new path may have failed since it was chosen. */
  | 'movingStale'
  | 'ended';
export type CircuitEvent = 'routed' | 'reroute' | 'moved' | 'end';

export const CIRCUIT_TRANSITIONS: Transitions<CircuitState, CircuitEvent> = Object.freeze({
  routing: { routed: 'up', reroute: 'routingStale', end: 'ended' },
  routingStale: { routed: 'moving', reroute: 'routingStale', end: 'ended' },
  up: { reroute: 'moving', end: 'ended' },
  moving: { moved: 'up', reroute: 'movingStale', end: 'ended' },
  movingStale: { moved: 'moving', reroute: 'movingStale', end: 'ended' },
  ended: {},
});

interface Stateful {
  readonly id: string;
  state: CircuitState;
}

/** Changes the state of a circuit and returns it. @throws InvariantError if the table has no such transition. */
export function advance(circuit: Stateful, event: CircuitEvent): CircuitState {
  circuit.state = nextState(CIRCUIT_TRANSITIONS, circuit.state, event, `circuit ${circuit.id}`);
  return circuit.state;
}

/**
 * Whether the circuit was removed. A function, because TypeScript keeps the narrowed type of a field across `await`.
 */
export function isEnded({ state }: Stateful): boolean {
  return state === 'ended';
}
