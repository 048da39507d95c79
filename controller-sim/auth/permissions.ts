// Decides whether an identity may call an operation, by the access level in the table of operations.

import type { AccessLevel } from '#schemas/api/gen/operation-types.ts';
import type { Identity } from '../state/kinds/identity.ts';

/** Whether an identity with a complete session may call it. */
export function mayCall(identity: Identity, access: AccessLevel): boolean {
  if (access === 'session' || access === 'partial' || isAdmin(identity)) return true;
  const [kind = '', action] = access.split('.');
  const permissions = identity.permissions ?? [];
  if (action === 'read' && permissions.includes('admin_readonly')) return true;
  return kind !== 'admin' && (permissions.includes(kind) || permissions.includes(access));
}

/** The default administrator always remains one. */
export function isAdmin({ isAdmin: admin, isDefaultAdmin }: Identity): boolean {
  return admin || isDefaultAdmin;
}
