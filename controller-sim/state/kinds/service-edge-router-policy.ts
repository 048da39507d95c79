// Service edge router policies: the routers over which a service is reached.

import type { Policy } from '../entity.ts';
import { name, semantic, texts } from '../fields.ts';
import { kind } from '../kind.ts';

export interface ServiceEdgeRouterPolicy extends Policy {
  readonly edgeRouterRoles: readonly string[];
  readonly serviceRoles: readonly string[];
}

export const serviceEdgeRouterPolicy = kind<ServiceEdgeRouterPolicy>()({
  plural: 'service-edge-router-policies',
  store: 'serviceEdgeRouterPolicies',
  unique: ['name'],
  refers: [
    { key: 'serviceRoles', to: 'service', form: 'selectors', side: 'left', repair: 'remove', onDelete: 'remove' },
    { key: 'edgeRouterRoles', to: 'router', form: 'selectors', side: 'right', repair: 'remove', onDelete: 'remove' },
  ],
  lists: ['edge-routers', 'services'],
  fields: {
    name,
    semantic,
    edgeRouterRoles: texts,
    serviceRoles: texts,
  },
  isConfigured: true,
});
