// The error that callers get while the router drains.

import { ProjectError } from '#lib/errors.ts';

export const DRAINING = 'this router is draining: it takes no new circuits';

export class DrainingError extends ProjectError {
  constructor() {
    super('DRAINING', DRAINING, { retriable: true });
  }
}
