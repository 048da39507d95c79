// API sessions that may do little, because a login has several steps.

import type { ApiSession } from '../state/kinds/api-session.ts';

/** Whether the session still lacks a second factor. */
export function isPartial({
  isMfaRequired,
  isMfaComplete,
  requiredSignerId,
}: Pick<ApiSession, 'isMfaRequired' | 'isMfaComplete' | 'requiredSignerId'>): boolean {
  return (isMfaRequired && !isMfaComplete) || requiredSignerId !== null;
}
