// A circuit in the controller's view.

import type { CircuitState } from './circuit-states.ts';
import type { Path } from './paths.ts';

export interface Circuit {
  readonly id: string;
  readonly serviceId: string;
  readonly clientId: string;
  readonly terminatorId: string;
  readonly ingress: string;
  readonly egress: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly createdAt: number;
  state: CircuitState;
  path: Path;
  /** Whether it adds to the cost of its terminator. */
  addsCost: boolean;
}
