// The permission of a client connection for a service.

import type { Permission } from '../../../access/data-model.ts';

/** The permission of a client for a service, valid as long as `requireAccess` succeeds. */
export interface Right {
  readonly serviceId: string;
  readonly permission: Permission;
  /** Token and id of the service session; undefined for dials with the API session alone. */
  readonly serviceSession: { readonly token: string; readonly id: string | undefined } | undefined;
}
