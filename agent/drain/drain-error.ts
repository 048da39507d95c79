// The error for new circuits while the router drains.

import { ProjectError } from '#lib/errors.ts';

export const DRAINING = 'this router is draining and accepts no new circuits';

export class DrainingError extends ProjectError {
  constructor() {
    super('DRAINING', DRAINING, { retriable: true });
  }
}
