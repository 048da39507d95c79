// A circuit as the controller knows it.

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
  path: Path;
  /** Whether its terminator costs more because of it. */
  addsCost: boolean;
}
