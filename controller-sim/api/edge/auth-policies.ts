// Auth policies.

import type { AuthPolicyDetail } from '#schemas/api/gen/answers.ts';
import { letsAdminsIn } from '../../auth/vouching.ts';
import { type AuthPolicyBody, authPolicyRules } from '../../entities/auth-policy.ts';
import type { Symbols } from '../../filter/compile.ts';
import type { AuthPolicy } from '../../state/kinds/auth-policy.ts';
import { base } from '../answers/references.ts';
import type { ApiRequest, Handlers } from '../operations/context.ts';
import { field } from '../operations/list.ts';
import { create, detail, list, patch, type Resource, remove, update } from '../operations/resource.ts';
import { isByAdmin, notAllowed } from '../operations/rights.ts';

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

function rejectPolicyOfAdmins(request: ApiRequest<'state'>, policy: AuthPolicy): void {
  if (!isByAdmin(request) && letsAdminsIn(request.services.state.tables, policy))
    throw notAllowed('change or delete auth policies of admins');
}

export const authPolicies: Resource<'authPolicy', AuthPolicyDetail, AuthPolicyBody, 'state'> = {
  ...authPolicyRules,
  symbols: AUTH_POLICY_SYMBOLS,
  update: (transaction, policy, body, request) => {
    rejectPolicyOfAdmins(request, policy);
    authPolicyRules.update(transaction, policy, body);
  },
  remove: (transaction, policy, request) => {
    rejectPolicyOfAdmins(request, policy);
    authPolicyRules.remove(transaction, policy);
  },
  show: (policy): AuthPolicyDetail => {
    const { requireTotp, requireExtJwtSigner } = policy.secondary;
    return {
      ...base('authPolicy', policy),
      name: policy.name,
      primary: policy.primary,
      secondary: { requireTotp, ...(requireExtJwtSigner !== null && { requireExtJwtSigner }) },
    };
  },
};

export const authPolicyHandlers = {
  listAuthPolicies: list(authPolicies),
  createAuthPolicy: create(authPolicies),
  detailAuthPolicy: detail(authPolicies),
  updateAuthPolicy: update(authPolicies),
  patchAuthPolicy: patch(authPolicies),
  deleteAuthPolicy: remove(authPolicies),
} satisfies Partial<Handlers<'management'>>;
