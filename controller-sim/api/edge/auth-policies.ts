// Auth policies.

import { letsAdminsIn } from '../../auth/vouching.ts';
import { createAuthPolicy, deleteAuthPolicy, updateAuthPolicy } from '../../entities/auth-policy.ts';
import type { Symbols } from '../../filter/compile.ts';
import type { AuthPolicy } from '../../state/types.ts';
import type { ApiRequest, Handlers } from '../http/context.ts';
import { field } from '../http/list.ts';
import { base } from '../http/references.ts';
import { crud, type Resource } from '../http/resource.ts';
import { isByAdmin, notAllowed } from '../http/rights.ts';

const flag = (get: (policy: AuthPolicy) => boolean) => ({ type: 'bool' as const, get });
const number = (get: (policy: AuthPolicy) => number) => ({ type: 'number' as const, get });

const AUTH_POLICY_SYMBOLS: Symbols<AuthPolicy> = {
  name: field('name'),
  'primary.cert.allowed': flag(({ primary }) => primary.cert.allowed),
  'primary.cert.allowExpiredCerts': flag(({ primary }) => primary.cert.allowExpiredCerts),
  'primary.extJwt.allowed': flag(({ primary }) => primary.extJwt.allowed),
  'primary.updb.allowed': flag(({ primary }) => primary.updb.allowed),
  'primary.updb.maxAttempts': number(({ primary }) => primary.updb.maxAttempts),
  'primary.updb.minPasswordLength': number(({ primary }) => primary.updb.minPasswordLength),
  'primary.updb.requireMixedCase': flag(({ primary }) => primary.updb.requireMixedCase),
  'primary.updb.requireNumberChar': flag(({ primary }) => primary.updb.requireNumberChar),
  'primary.updb.requireSpecialChar': flag(({ primary }) => primary.updb.requireSpecialChar),
  'secondary.requireExtJwtSigner': { get: ({ secondary }) => secondary.requireExtJwtSigner },
  'secondary.requireTotp': flag(({ secondary }) => secondary.requireTotp),
};

function rejectPolicyOfAdmins(request: ApiRequest, policy: AuthPolicy): void {
  if (!isByAdmin(request) && letsAdminsIn(request.services.state.tables, policy))
    throw notAllowed('change or delete auth policies of admins');
}

export const authPolicies: Resource<'authPolicy'> = {
  kind: 'authPolicy',
  names: { one: 'AuthPolicy', many: 'AuthPolicies' },
  symbols: AUTH_POLICY_SYMBOLS,
  create: createAuthPolicy,
  update: (transaction, policy, body, request) => {
    rejectPolicyOfAdmins(request, policy);
    updateAuthPolicy(transaction, policy, body);
  },
  remove: (transaction, policy, request) => {
    rejectPolicyOfAdmins(request, policy);
    deleteAuthPolicy(transaction, policy);
  },
  show: (policy) => {
    const { requireTotp, requireExtJwtSigner } = policy.secondary;
    return {
      ...base('authPolicy', policy),
      name: policy.name,
      primary: policy.primary,
      secondary: { requireTotp, ...(requireExtJwtSigner !== null && { requireExtJwtSigner }) },
    };
  },
};

export const authPolicyHandlers: Handlers = crud(authPolicies);
