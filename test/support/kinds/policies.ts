// The three kinds of policies.

import { type Kind, type Known, type Rejection, role, TAGS, UNIQUE } from './kind.ts';

const policy = (name: string, left: string, right: string, ids: readonly [string, string]) => ({
  create: { name, semantic: 'AnyOf', tags: TAGS, [left]: ['#b', '#a', `@${ids[0]}`], [right]: ['#all'] },
  expected: { [left]: ['#a', '#b', `@${ids[0]}`] },
  required: ['name', 'semantic'],
  patch: { [right]: [`@${ids[1]}`] },
  put: { name: `${name} 2`, semantic: 'AllOf' },
  cleared: { [left]: null, [right]: null, [`${left}Display`]: [], tags: {} },
  duplicate: UNIQUE,
});

export function policyKinds(ids: Known): Kind[] {
  const semantic: Rejection = [{ semantic: 'anyof' }, 400, 'COULD_NOT_VALIDATE', 'semantic'];
  return [
    {
      path: '/edge-router-policies',
      ...policy('erp', 'identityRoles', 'edgeRouterRoles', [ids.identity, ids.edgeRouter]),
      rejections: [semantic, ...role('identityRoles', 'identities'), ...role('edgeRouterRoles', 'routers')],
    },
    {
      path: '/service-edge-router-policies',
      ...policy('serp', 'serviceRoles', 'edgeRouterRoles', [ids.service, ids.edgeRouter]),
      rejections: [semantic, ...role('serviceRoles', 'services'), ...role('edgeRouterRoles', 'routers')],
    },
    {
      path: '/service-policies',
      create: {
        name: 'sp',
        type: 'Dial',
        semantic: 'AllOf',
        identityRoles: ['#all'],
        serviceRoles: [`@${ids.service}`, '#a', '#a'],
        postureCheckRoles: [`@${ids.postureCheck}`],
        tags: TAGS,
      },
      expected: {
        serviceRoles: ['#a', `@${ids.service}`],
        serviceRolesDisplay: [
          { role: '#a', name: '#a' },
          { role: `@${ids.service}`, name: '@known' },
        ],
        identityRolesDisplay: [{ role: '#all', name: '#all' }],
        postureCheckRolesDisplay: [{ role: `@${ids.postureCheck}`, name: '@known' }],
      },
      required: ['name', 'type', 'semantic'],
      patch: { type: 'Bind' },
      put: { name: 'sp 2', type: 'Dial', semantic: 'AnyOf' },
      cleared: {
        identityRoles: null,
        serviceRoles: null,
        postureCheckRoles: null,
        postureCheckRolesDisplay: [],
        tags: {},
      },
      duplicate: UNIQUE,
      rejections: [
        semantic,
        [{ type: 'Invalid' }, 400, 'COULD_NOT_VALIDATE', 'policyType'],
        [{ type: 'Call' }, 400, 'COULD_NOT_VALIDATE', 'type'],
        ...role('identityRoles', 'identities'),
        ...role('serviceRoles', 'services'),
        ...role('postureCheckRoles', 'postureChecks'),
      ],
    },
  ];
}
