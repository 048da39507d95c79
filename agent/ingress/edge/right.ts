// What a client of a connection may do with a service.

import type { Permission } from '../../access/data-model.ts';

/** A client may do this with a service, as long as `demandAccess` agrees. */
export interface Right {
  readonly serviceId: string;
  readonly permission: Permission;
  /** Token and id of the service session; undefined for dials with the API session alone. */
  readonly serviceSession: { readonly token: string; readonly id: string | undefined } | undefined;
}
