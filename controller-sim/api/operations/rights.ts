// Permissions never extend to administrators, or to tokens of others. A caller that could enroll as an administrator,
// remove an administrator's second factor, or use another session would gain the rights of that identity.

import { isAdmin, mayCall } from '../../auth/permissions.ts';
import { ApiError } from '../../errors/errors.ts';
import type { Enrollment } from '../../state/kinds/enrollment.ts';
import type { Identity } from '../../state/kinds/identity.ts';
import type { ApiRequest } from './context.ts';

/** Permissions to open enrollments or renew their tokens. Read permissions do not reveal tokens. */
const OPENS = {
  identity: ['identity.create', 'enrollment.create', 'enrollment.update'],
  router: ['router.create', 'router.update', 'enrollment.update'],
} as const;

/** Throws ApiError if the identity is an administrator and the caller is not; `what` names the action in the cause. */
export function requirePowerOver(request: ApiRequest<'state'>, identityId: string | null, what: string): void {
  if (!hasPowerOver(request, identityId)) throw notAllowed(what);
}

/** `identityId` is null for entities without an owner. */
export function hasPowerOver({ identity: caller, services }: ApiRequest<'state'>, identityId: string | null): boolean {
  if (!caller || isAdmin(caller)) return true;
  const target = identityId === null ? undefined : services.state.tables.identity.get(identityId);
  return target === undefined || !isAdmin(target);
}

/** Whether the caller may see session tokens of the identity: only the owner and administrators may. */
export function seesTokensOf({ identity: caller }: ApiRequest<never>, identityId: string): boolean {
  return caller !== undefined && (isAdmin(caller) || caller.id === identityId);
}

/** Whether the caller may see the token of an enrollment: it could open one itself, or it is the enrolling identity. */
export function seesEnrollmentTokens(
  request: ApiRequest<'state'>,
  { identityId }: Partial<Pick<Enrollment, 'identityId'>>,
): boolean {
  const { identity: caller } = request;
  if (!caller) return false;
  if (isAdmin(caller) || caller.id === identityId) return true;
  const permissions = identityId ? OPENS.identity : OPENS.router;
  return hasPowerOver(request, identityId ?? null) && permissions.some((permission) => mayCall(caller, permission));
}

/** For operations that require a session, and therefore always have a caller. */
export function idOfCaller({ identity }: ApiRequest<never>): string {
  return (identity as Identity).id;
}

/** Whether the caller is an administrator. */
export function isByAdmin({ identity }: ApiRequest<never>): boolean {
  return identity !== undefined && isAdmin(identity);
}

export function notAllowed(what: string): ApiError {
  return new ApiError('UNAUTHORIZED', { code: 'UNHANDLED', message: `non-admins may not ${what}` });
}
