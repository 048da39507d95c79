// Edge routers. Their credentials are not part of a seed.

import { createEdgeRouter, deleteRouter, updateEdgeRouter } from '../../../entities/router.ts';
import { filled, type Section } from '../section.ts';
import { commonEntry, routerBody } from './routers.ts';

export const edgeRouters: Section<'router'> = {
  kind: 'router',
  word: 'edge router',
  bodyType: 'edgeRouterCreate',
  hasShortId: true,
  body: routerBody,
  create: (transaction, id, body, { routerEnrollment }) => {
    if (routerEnrollment) createEdgeRouter(transaction, id, body, routerEnrollment);
  },
  update: updateEdgeRouter,
  remove: deleteRouter,
  isExported: ({ isEdge }) => isEdge,
  entry: (router, names) => ({
    ...commonEntry(router, names),
    ...filled({ appData: router.appData }),
    isTunnelerEnabled: router.isTunnelerEnabled,
    roleAttributes: router.roleAttributes,
  }),
};
