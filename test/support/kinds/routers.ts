// Edge routers and transit routers.

import { attributes, type Kind, type Known, routerCosts, TAGS, UNIQUE } from './kind.ts';

export function routerKinds(ids: Known): Kind[] {
  return [
    {
      path: '/edge-routers',
      create: {
        name: 'edge',
        cost: 5,
        noTraversal: true,
        disabled: true,
        isTunnelerEnabled: false,
        roleAttributes: ['b', 'a'],
        appData: { rack: '1' },
        configs: [ids.routerConfig],
        ctrlChanListeners: { 'tls:127.0.0.1:1': ['default'] },
        tags: TAGS,
      },
      expected: {
        roleAttributes: ['a', 'b'],
        isVerified: false,
        isOnline: false,
        syncStatus: 'SYNC_UNKNOWN',
        interfaces: null,
        versionInfo: { arch: '', buildDate: '', os: '', revision: '', version: '' },
      },
      required: ['name'],
      patch: { cost: 6 },
      put: { name: 'edge 2' },
      cleared: {
        cost: 0,
        noTraversal: false,
        disabled: false,
        roleAttributes: null,
        appData: {},
        configs: null,
        tags: {},
      },
      duplicate: UNIQUE,
      rejections: [
        ...attributes,
        ...routerCosts,
        [{ configs: [ids.config] }, 400, 'COULD_NOT_VALIDATE', 'which does not target routers'],
        [{ name: '' }, 400, 'COULD_NOT_VALIDATE', 'name'],
        [{ name: 'known', isTunnelerEnabled: true }, 400, 'COULD_NOT_VALIDATE', 'identities store'],
      ],
    },
    ...['/routers', '/transit-routers'].map((path) => ({
      path,
      create: {
        name: `carrier ${path}`,
        cost: 5,
        noTraversal: true,
        disabled: true,
        configs: [ids.routerConfig],
        tags: TAGS,
      },
      expected: { isVerified: false, fingerprint: null, isOnline: false },
      required: ['name'],
      patch: { disabled: false },
      put: { name: `carrier 2 ${path}` },
      cleared: { cost: 0, noTraversal: false, disabled: false, configs: null, tags: {} },
      duplicate: UNIQUE,
      rejections: routerCosts,
    })),
    {
      path: '/fabric/v1/routers',
      create: {
        id: 'fabric-1',
        name: 'fabric',
        cost: 5,
        noTraversal: true,
        disabled: true,
        fingerprint: 'ab12',
        tags: TAGS,
      },
      expected: { connected: false },
      required: ['id', 'name', 'cost', 'noTraversal'],
      patch: { cost: 9 },
      put: { name: 'fabric 2', cost: 0, noTraversal: false, fingerprint: 'cd34' },
      cleared: { disabled: false, tags: {} },
      rejections: routerCosts,
      conflicts: [[{ name: 'another' }, 400, 'UNHANDLED', 'already exists with id fabric-1']],
    },
  ];
}
