// The lists that the links of each kind of entity name: in its own answers, and where others refer to it.

import t from 'tap';
import { type EntityKind, KINDS } from '../../state/kinds.ts';
import { links, reference } from './references.ts';

/** Kinds with lists, and whether references to them name these. Other kinds have only the link to themselves. */
const LISTS: Partial<Record<EntityKind, readonly [referred: boolean, ...lists: string[]]>> = {
  ca: [true, 'verify'],
  identity: [
    true,
    'authenticators',
    'edge-router-policies',
    'edge-routers',
    'enrollments',
    'failed-service-requests',
    'posture-data',
    'service-configs',
    'service-policies',
    'services',
  ],
  service: [true, 'configs', 'service-edge-router-policies', 'service-policies', 'terminators'],
  router: [true, 'edge-router-policies'],
  edgeRouterPolicy: [false, 'edge-routers', 'identities'],
  serviceEdgeRouterPolicy: [false, 'edge-routers', 'services'],
  servicePolicy: [false, 'identities', 'posture-checks', 'services'],
  apiSession: [true, 'sessions'],
  session: [false, 'route-path'],
};

t.test('answers link to the lists of an entity, references only for some kinds', async (t) => {
  for (const kind of Object.keys(KINDS) as EntityKind[]) {
    const entity = { id: 'x', name: 'name' } as never;
    const { plural } = KINDS[kind];
    const [isReferred = false, ...lists] = LISTS[kind] ?? [];
    const self = { href: `./${plural}/x` };
    const all = { self, ...Object.fromEntries(lists.map((list) => [list, { href: `./${plural}/x/${list}` }])) };
    t.same(links(kind, entity), all, kind);
    const { _links, ...rest } = reference(kind, entity) ?? {};
    t.same(_links, isReferred ? all : { self }, `a reference to ${kind}`);
    t.same(rest, { entity: plural, id: 'x', name: 'name' });
    t.same(reference(kind, entity, 'others')?._links, { self: { href: './others/x' } });
  }
});

t.test('an entity links to its auth policy; one without a name, or that is missing, has no name', async (t) => {
  t.match(links('identity', { id: 'x', authPolicyId: 'p' } as never), {
    'auth-policies': { href: './auth-policies/p' },
  });
  t.notOk('name' in (reference('session', { id: 'x' } as never) ?? {}));
  t.equal(reference('session', undefined), null);
});
