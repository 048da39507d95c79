// Base paths of each API. The client API also has older ones (reference fact: HTTP behaviour, Bases).

import type { ApiName } from '#schemas/api/operations.ts';

export const BASES: Readonly<Record<ApiName, readonly [string, ...string[]]>> = {
  management: ['/edge/management/v1'],
  client: ['/edge/client/v1', '/edge/v1', ''],
  fabric: ['/fabric/v1'],
  lab: ['/lab/v1'],
};
