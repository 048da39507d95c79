// Edge router policies: the routers that an identity may use.

import type { Policy } from '../entity.ts';
import { name, semantic, texts } from '../fields.ts';
import { kind } from '../kind.ts';

export interface EdgeRouterPolicy extends Policy {
  readonly edgeRouterRoles: readonly string[];
  readonly identityRoles: readonly string[];
}

export const edgeRouterPolicy = kind<EdgeRouterPolicy>()({
  plural: 'edge-router-policies',
  store: 'edgeRouterPolicies',
  unique: ['name'],
  refers: [
    { key: 'identityRoles', to: 'identity', form: 'selectors', side: 'left', repair: 'remove', onDelete: 'remove' },
    { key: 'edgeRouterRoles', to: 'router', form: 'selectors', side: 'right', repair: 'remove', onDelete: 'remove' },
  ],
  lists: ['edge-routers', 'identities'],
  fields: {
    name,
    semantic,
    edgeRouterRoles: texts,
    identityRoles: texts,
  },
  isConfigured: true,
});
