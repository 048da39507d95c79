// The failure of a probe. Separate from the probes: the HTTP probe, which is loaded on demand, throws it, too.

import { ProjectError } from '#lib/errors.ts';

/** The service gave an unexpected answer, or none in time. */
export class ProbeError extends ProjectError {
  constructor(message: string) {
    super('HEALTH_PROBE', message);
  }
}
