// Finds the file with the ready line of a running simulator: the given one, or that of the service on this machine.

import { existsSync } from 'node:fs';

/** The file of `edgeweave-sim.service` in examples/service. Only root creates folders in /run. */
const SERVICE_READY = '/run/edgeweave-sim/ready.json';

/** Another address never gets the password of the service, so there is no default beside `--url`. */
export function readyFileOf({
  ready,
  url,
}: {
  readonly ready?: string | undefined;
  readonly url?: string | undefined;
}) {
  const given = ready || undefined; // an environment variable may be empty
  return given ?? (url === undefined && existsSync(SERVICE_READY) ? SERVICE_READY : undefined);
}
