// The check of policies' members against their roles.

import t from 'tap';
import type { Identity } from '../state/kinds/identity.ts';
import type { Service } from '../state/kinds/service.ts';
import type { ServicePolicy } from '../state/kinds/service-policy.ts';
import { createTables } from '../state/tables.ts';
import { Memberships } from './memberships.ts';

t.test('a check finds members that roles no longer select, and members that are missing', async (t) => {
  const tables = createTables();
  const entity = (id: string, fields: object) => ({
    ...{ id, name: id, roleAttributes: [], tags: {}, configs: [] },
    ...{ serviceConfigs: {}, serviceHostingCosts: {}, serviceHostingPrecedences: {} },
    ...fields,
  });
  const roles = { identityRoles: ['#users'], serviceRoles: ['#all'], postureCheckRoles: [], semantic: 'AnyOf' };
  tables.identity.apply('user', entity('user', { roleAttributes: ['users'] }) as unknown as Identity);
  tables.service.apply('a', entity('a', {}) as unknown as Service);
  tables.servicePolicy.apply('policy', entity('policy', { ...roles, type: 'Dial' }) as unknown as ServicePolicy);
  const memberships = new Memberships(tables);
  t.same(memberships.check('servicePolicy'), []);
  // These changes bypass the state, so the memberships do not receive them.
  tables.identity.apply('user', entity('user', { roleAttributes: [] }) as unknown as Identity);
  tables.identity.apply('new', entity('new', { roleAttributes: ['users'] }) as unknown as Identity);
  t.same(memberships.check('servicePolicy'), [
    'servicePolicy policy: identity user unexpected',
    'servicePolicy policy: identity new missing',
  ]);
  t.same(memberships.check('edgeRouterPolicy'), []);
});
