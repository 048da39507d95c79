// Posture checks: demands on the machine of a client.

import type { TypedDemands } from '#model/posture.ts';
import type { Named } from '../entity.ts';
import { kind } from '../kind.ts';

interface PostureCheckBase extends Named {
  readonly roleAttributes: readonly string[];
  /** Incremented by each change. */
  readonly version: number;
}

export type PostureCheck = PostureCheckBase & TypedDemands;

export const postureCheck = kind<PostureCheck>()({
  plural: 'posture-checks',
  store: 'postureChecks',
  unique: ['name'],
  hasRoleAttributes: true,
  isConfigured: true,
});
