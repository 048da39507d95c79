// Whether an identity can log in: not disabled, enrolled, with an auth policy that accepts one of its proofs.

import { isDisabled } from '../../entities/identity.ts';
import type { AuthPolicy } from '../../state/kinds/auth-policy.ts';
import type { Authenticator } from '../../state/kinds/authenticator.ts';
import type { Enrollment } from '../../state/kinds/enrollment.ts';
import type { Identity } from '../../state/kinds/identity.ts';
import type { Tables } from '../../state/tables.ts';
import { bad, blocker, type Finding, good, names } from './finding.ts';

/** `now` in milliseconds. */
export function explainIdentity(tables: Tables, identity: Identity, now: number): Finding[] {
  const about = ['identity', identity] as const;
  const disabled = isDisabled(identity, now) ? [blocker(about, ...disabledText(identity))] : [];
  if (identity.type === 'Router') return [...disabled, routerEnrolled(tables, identity)];
  const policy = tables.authPolicy.get(identity.authPolicyId);
  if (!policy) return [...disabled, blocker(about, 'its auth policy is unknown', 'set authPolicyId')];
  return [...disabled, ...proofs(tables, identity, policy, now), ...secondFactor(tables, identity, policy)];
}

/** Why it is disabled, and the remedy. */
export function disabledText({ name, disabledUntil, id }: Identity): [message: string, remedy: string] {
  const enable = `POST /edge/management/v1/identities/${id}/enable`;
  if (disabledUntil === null) return [`${name} is disabled`, `enable it: ${enable}`];
  const message = `${name} is disabled until ${disabledUntil}, by an administrator or after wrong passwords`;
  return [message, `advance the clock, or enable it: ${enable}`];
}

function routerEnrolled({ router }: Tables, { id, name }: Identity): Finding {
  return router.get(id)?.isVerified
    ? good(['identity', { id, name }], `${name} is the identity of a router, which has enrolled`)
    : blocker(['identity', { id, name }], `the router of ${name} has not enrolled`, 'enroll the router');
}

/** The proofs with which the identity can log in, and those that its auth policy rejects. */
function proofs(tables: Tables, identity: Identity, policy: AuthPolicy, now: number): Finding[] {
  const about = ['identity', identity] as const;
  const own = tables.authenticator.referring('identityId', identity.id);
  const accepted = own.filter((each) => accepts(policy, each));
  const others = otherProofs(tables, identity, policy);
  const enrolled = [...accepted.map(proofName), ...others].join(', ');
  if (enrolled !== '') return [good(about, `${identity.name} can log in with ${enrolled}`)];
  if (own.length > 0) {
    const rejected = own.map(proofName).join(', ');
    const message = `the auth policy ${policy.name} does not accept what ${identity.name} has: ${rejected}`;
    return [blocker(['authPolicy', policy], message, `allow it in the auth policy, or use another policy`)];
  }
  const [enrollment] = tables.enrollment.referring('identityId', identity.id);
  return [blocker(about, `${identity.name} has not enrolled`, enrollmentRemedy(enrollment, now))];
}

function accepts({ primary }: AuthPolicy, { method }: Authenticator): boolean {
  return primary[method].allowed;
}

function proofName({ method, username }: Authenticator): string {
  return method === 'updb' ? `the password of ${username}` : 'a certificate';
}

/** Tokens of signers that the auth policy allows, and certificates of third-party authorities. */
function otherProofs(tables: Tables, { externalId }: Identity, { primary }: AuthPolicy): string[] {
  const { allowed, allowedSigners } = primary.extJwt;
  const signers = [...tables.externalJwtSigner.values()].filter(
    ({ id, enabled }) => enabled && (allowedSigners.length === 0 || allowedSigners.includes(id)),
  );
  const authorities = [...tables.ca.values()].filter(
    ({ isAuthEnabled, isVerified, externalIdClaim }) => isAuthEnabled && isVerified && externalIdClaim !== null,
  );
  return [
    ...(allowed && signers.length > 0 ? [`a token of ${names(signers)}`] : []),
    ...(primary.cert.allowed && externalId !== null && authorities.length > 0
      ? [`a certificate of ${names(authorities)}`]
      : []),
  ];
}

function enrollmentRemedy(enrollment: Enrollment | undefined, now: number): string {
  if (!enrollment) return 'create an enrollment or an authenticator for it';
  const { method, expiresAt } = enrollment;
  return Date.parse(expiresAt) < now
    ? `its enrollment (${method}) expired at ${expiresAt}; refresh it and enroll`
    : `enroll with its ${method} token, which is valid until ${expiresAt}`;
}

function secondFactor(tables: Tables, identity: Identity, policy: AuthPolicy): Finding[] {
  const { requireTotp, requireExtJwtSigner } = policy.secondary;
  const about = ['authPolicy', policy] as const;
  const findings: Finding[] = [];
  const isEnrolled = tables.mfa.referring('identityId', identity.id).some(({ isVerified }) => isVerified);
  if (requireTotp)
    findings.push(
      isEnrolled
        ? good(about, `the auth policy ${policy.name} requires one-time passwords; ${identity.name} has them`)
        : blocker(
            about,
            `the auth policy ${policy.name} requires one-time passwords; ${identity.name} has none`,
            'log in and enroll the second factor (POST /current-identity/mfa)',
          ),
    );
  if (requireExtJwtSigner !== null) {
    const signer = tables.externalJwtSigner.get(requireExtJwtSigner);
    const wanted = `the auth policy ${policy.name} also requires a token of ${signer?.name ?? requireExtJwtSigner}`;
    findings.push(
      signer?.enabled
        ? good(about, wanted)
        : blocker(about, `${wanted}, which is disabled or unknown`, 'enable the signer, or remove the requirement'),
    );
  }
  return findings;
}

/** The proofs that a session still lacks. */
export function isComplete(session: { readonly isMfaRequired: boolean; readonly isMfaComplete: boolean }): boolean {
  return !session.isMfaRequired || session.isMfaComplete;
}

export function incompleteSession(id: string): Finding {
  return bad(
    ['apiSession', { id }],
    `the session ${id} lacks its second factor`,
    'give a one-time password in it (POST /authenticate/mfa)',
  );
}
