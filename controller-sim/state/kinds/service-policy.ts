// Service policies: the identities that may dial or bind a service, and their posture checks.

import type { PermissionType, Policy } from '../entity.ts';
import { name, oneOf, semantic, texts } from '../fields.ts';
import { kind } from '../kind.ts';

export interface ServicePolicy extends Policy {
  readonly type: PermissionType;
  readonly identityRoles: readonly string[];
  readonly serviceRoles: readonly string[];
  readonly postureCheckRoles: readonly string[];
}

export const servicePolicy = kind<ServicePolicy>()({
  plural: 'service-policies',
  store: 'servicePolicies',
  unique: ['name'],
  refers: [
    { key: 'identityRoles', to: 'identity', form: 'selectors', side: 'left', repair: 'remove', onDelete: 'remove' },
    { key: 'serviceRoles', to: 'service', form: 'selectors', side: 'right', repair: 'remove', onDelete: 'remove' },
    { key: 'postureCheckRoles', to: 'postureCheck', form: 'selectors', repair: 'remove', onDelete: 'remove' },
  ],
  lists: ['identities', 'posture-checks', 'services'],
  fields: {
    name,
    semantic,
    type: oneOf('Dial', 'Bind'),
    identityRoles: texts,
    serviceRoles: texts,
    postureCheckRoles: texts,
  },
  isConfigured: true,
});
