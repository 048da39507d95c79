// The description of the lab API itself.

import type { LabGroup } from './function.ts';

export const DOCUMENTS: LabGroup = {
  section: 'Controllers',
  functions: [
    { id: 'getSwagger', route: 'GET /swagger.json', access: 'none', answer: 'application/json', rejections: [] },
  ],
};
