// The login of administrators at the lab, as at the other APIs: faults do not affect it.

import type { LabGroup } from './function.ts';

export const SESSIONS: LabGroup = {
  section: 'Controllers',
  functions: [
    {
      id: 'authenticate',
      route: 'POST /authenticate',
      access: 'none',
      query: { method: 'string' },
      required: ['method'],
      body: 'authenticate?',
      checksFields: true,
      answer: 'currentApiSessionDetail',
      rejections: [400, 401, 429],
    },
    { id: 'deleteCurrentAPISession', route: 'DELETE /current-api-session', access: 'partial', rejections: [401] },
  ],
};
