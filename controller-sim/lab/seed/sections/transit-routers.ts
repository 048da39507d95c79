// Routers that only carry circuits.

import { createTransitRouter, deleteRouter, updateTransitRouter } from '../../../entities/router.ts';
import type { Section } from '../section.ts';
import { commonEntry, routerBody } from './routers.ts';

export const transitRouters: Section<'router'> = {
  kind: 'router',
  word: 'transit router',
  bodyType: 'routerCreate',
  hasShortId: true,
  body: routerBody,
  create: (transaction, id, body, { routerEnrollment }) => createTransitRouter(transaction, id, body, routerEnrollment),
  update: updateTransitRouter,
  remove: deleteRouter,
  isExported: ({ isEdge }) => !isEdge,
  entry: commonEntry,
};
