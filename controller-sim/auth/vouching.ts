// Decides which proofs log administrators in. Otherwise a permission for signers, authorities or auth policies would
// make its owner an administrator: it could sign a token or a certificate with an administrator's id. The rule has
// three parts:
//
// - A signer or an authority vouches for administrators only if an administrator was the last to create or change it.
// - Only administrators change an auth policy of an administrator.
// - An edge router that forwards a client's certificate does not vouch for administrators.

import type { Vouching } from '../state/entity.ts';
import type { AuthPolicy } from '../state/kinds/auth-policy.ts';
import type { Identity } from '../state/kinds/identity.ts';
import type { Tables } from '../state/tables.ts';
import { isAdmin } from './permissions.ts';

/**
 * Whether a signer or an authority may vouch for this identity. Records of older releases lack the flag; administrators
 * created them.
 */
export function mayVouchFor({ vouchesForAdmins = true }: Vouching, identity: Identity): boolean {
  return vouchesForAdmins || !isAdmin(identity);
}

/** Log message for a rejected login of an administrator. */
export const NOT_FOR_ADMINS =
  'rejected an administrator login: a caller without administrator rights last changed the signer or authority; review it and save it as an administrator';

/**
 * Log message for a login through a router's API proxy. Otherwise a router's certificate would be equivalent to any
 * administrator's.
 */
export const NOT_THROUGH_ROUTERS =
  'rejected an administrator login: the API proxy of an edge router forwarded the certificate; log in at the controller';

/** Whether the policy decides how an administrator logs in. */
export function letsAdminsIn({ identity }: Pick<Tables, 'identity'>, { id }: AuthPolicy): boolean {
  return identity.referring('authPolicyId', id).some(isAdmin);
}
