// What permissions do not give: power over administrators. Who could enroll as one, or take the second factor of one away, would be one.

import { isAdmin } from '../../request/access.ts';
import type { ApiRequest } from '../../request/context.ts';
import { ApiError } from '../../request/errors.ts';

/** Throws ApiError when the identity is an administrator and the caller is none; `what` he may not, for the cause. */
export function refuseOverAdmins(request: ApiRequest, identityId: string | null, what: string): void {
  if (!hasPowerOver(request, identityId)) throw notAllowed(what);
}

/** Null stands for what belongs to nobody. */
export function hasPowerOver({ identity: caller, services }: ApiRequest, identityId: string | null): boolean {
  if (!caller || isAdmin(caller)) return true;
  const target = identityId === null ? undefined : services.state.tables.identity.get(identityId);
  return target === undefined || !isAdmin(target);
}

export function notAllowed(what: string): ApiError {
  return new ApiError('UNAUTHORIZED', { code: 'UNHANDLED', message: `non-admins may not ${what}` });
}
