// Edge router policies: the routers that an identity may use.

import type { Policy } from '../entity.ts';
import { kind } from '../kind.ts';

export interface EdgeRouterPolicy extends Policy {
  readonly edgeRouterRoles: readonly string[];
  readonly identityRoles: readonly string[];
}

export const edgeRouterPolicy = kind<EdgeRouterPolicy>()({
  plural: 'edge-router-policies',
  store: 'edgeRouterPolicies',
  unique: ['name'],
  references: ['identityRoles', 'edgeRouterRoles'],
  refers: [
    { key: 'edgeRouterRoles', to: 'router', form: 'selectors', mend: 'remove', onDelete: 'remove' },
    { key: 'identityRoles', to: 'identity', form: 'selectors', mend: 'remove', onDelete: 'remove' },
  ],
  lists: ['edge-routers', 'identities'],
  isConfigured: true,
});
