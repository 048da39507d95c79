// Permissions never give power over administrators, or tokens of others. A caller that could enroll as an administrator, take the
// second factor of one away, or use the session of somebody else would have the rights of that identity.

import { isAdmin, mayCall } from '../../auth/permissions.ts';
import { ApiError } from '../../errors/errors.ts';
import type { Enrollment, Identity } from '../../state/types.ts';
import type { ApiRequest } from './context.ts';

/** Permissions that open enrollments, or renew their tokens. Permissions to read give no tokens. */
const OPENS = {
  identity: ['identity.create', 'enrollment.create', 'enrollment.update'],
  router: ['router.create', 'router.update', 'enrollment.update'],
} as const;

/** Throws ApiError when the identity is an administrator and the caller is not; `what` names the act, for the cause. */
export function refuseOverAdmins(request: ApiRequest, identityId: string | null, what: string): void {
  if (!hasPowerOver(request, identityId)) throw notAllowed(what);
}

/** `identityId` is null for what belongs to nobody. */
export function hasPowerOver({ identity: caller, services }: ApiRequest, identityId: string | null): boolean {
  if (!caller || isAdmin(caller)) return true;
  const target = identityId === null ? undefined : services.state.tables.identity.get(identityId);
  return target === undefined || !isAdmin(target);
}

/** Whether the caller may see tokens of sessions of the identity: it is the owner, or an administrator. */
export function seesTokensOf({ identity: caller }: ApiRequest, identityId: string): boolean {
  return caller !== undefined && (isAdmin(caller) || caller.id === identityId);
}

/** Whether the caller may see the token of an enrollment: it could open one itself, or it is the identity that is to enroll. */
export function seesEnrollmentTokens(
  request: ApiRequest,
  { identityId }: Partial<Pick<Enrollment, 'identityId'>>,
): boolean {
  const { identity: caller } = request;
  if (!caller) return false;
  if (isAdmin(caller) || caller.id === identityId) return true;
  const permissions = identityId ? OPENS.identity : OPENS.router;
  return hasPowerOver(request, identityId ?? null) && permissions.some((permission) => mayCall(caller, permission));
}

/** For operations that need a session: they always have a caller. */
export function idOfCaller({ identity }: ApiRequest): string {
  return (identity as Identity).id;
}

/** Whether an administrator asks. */
export function isByAdmin({ identity }: ApiRequest): boolean {
  return identity !== undefined && isAdmin(identity);
}

export function notAllowed(what: string): ApiError {
  return new ApiError('UNAUTHORIZED', { code: 'UNHANDLED', message: `non-admins may not ${what}` });
}
