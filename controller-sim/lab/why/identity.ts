// Whether an identity can log in: not disabled, enrolled, with a proof that a login accepts. The login itself decides
// (auth/judge-login.ts).

import { parsePemCertificates } from '#pki/certificates.ts';
import {
  acceptsAuthority,
  acceptsSigner,
  disabledProblem,
  expiredAuthority,
  type Judged,
  type JudgeServices,
  judgeCertificate,
  judgePassword,
} from '../../auth/judge-login.ts';
import type { AuthPolicy } from '../../state/kinds/auth-policy.ts';
import type { Authenticator } from '../../state/kinds/authenticator.ts';
import type { CertificateAuthority } from '../../state/kinds/ca.ts';
import type { Enrollment } from '../../state/kinds/enrollment.ts';
import type { Identity } from '../../state/kinds/identity.ts';
import type { Tables } from '../../state/tables.ts';
import { alternatives, bad, blocker, type Finding, good, names } from './finding.ts';

const REPLACE = 'allow it in the auth policy, use another policy, or enroll again';

export function explainIdentity(services: JudgeServices, identity: Identity): Finding[] {
  const { tables } = services.state;
  const now = services.clock.now();
  const about = ['identity', identity] as const;
  const disabled = explainDisabled(identity, now);
  if (identity.type === 'Router') return [...disabled, routerEnrolled(tables, identity)];
  const policy = tables.authPolicy.get(identity.authPolicyId);
  if (!policy) return [...disabled, blocker(about, 'its auth policy is unknown', 'set authPolicyId')];
  // A disabled identity is rejected with every proof.
  const judged = disabled.length > 0 ? [] : proofs(services, identity, policy, now);
  return [...disabled, ...judged, ...secondFactor(tables, identity, policy)];
}

/** Why it is disabled, and the remedy; nothing if it is not. */
export function explainDisabled(identity: Identity, now: number): Finding[] {
  const problem = disabledProblem(identity, now);
  if (problem === undefined) return [];
  const enable = `enable it: POST /edge/management/v1/identities/${identity.id}/enable`;
  return [
    blocker(
      ['identity', identity],
      problem,
      identity.disabledUntil === null ? enable : `advance the clock, or ${enable}`,
    ),
  ];
}

function routerEnrolled({ router }: Tables, { id, name }: Identity): Finding {
  return router.get(id)?.isVerified
    ? good(['identity', { id, name }], `${name} is the identity of a router, which has enrolled`)
    : blocker(['identity', { id, name }], `the router of ${name} has not enrolled`, 'enroll the router');
}

/** The proofs with which the identity can log in, and those that a login rejects. */
function proofs(services: JudgeServices, identity: Identity, policy: AuthPolicy, now: number): Finding[] {
  const { tables } = services.state;
  const about = ['identity', identity] as const;
  const own = tables.authenticator.referring('identityId', identity.id);
  const judged = own.map((each) => ({ name: proofName(each), verdict: judge(services, each) }));
  const authorities = [...tables.ca.values()]
    .filter((each) => acceptsAuthority(each, identity, policy))
    .map((each) => ({ ...each, problem: expiredAuthority(services, each, policy) }));
  const valid = authorities.filter(({ problem }) => problem === undefined);
  const others = [...tokens(tables, identity, policy), ...(valid.length > 0 ? [certificateOf(valid)] : [])];
  const accepted = judged.filter(({ verdict }) => 'proven' in verdict).map(({ name }) => name);
  const works = [...accepted, ...others];
  const problems = [
    ...judged.flatMap(({ name, verdict }) => ('problem' in verdict ? [[name, verdict.problem]] : [])),
    ...authorities.flatMap((each) => (each.problem === undefined ? [] : [[certificateOf([each]), each.problem]])),
  ];
  const rejected = problems.map(([name, problem]) =>
    bad(['authPolicy', policy], `${name} is rejected: ${problem}`, REPLACE),
  );
  if (works.length > 0) return [good(about, `${identity.name} can log in with ${works.join(', ')}`), ...rejected];
  if (rejected.length > 0) return alternatives(rejected, false);
  const [enrollment] = tables.enrollment.referring('identityId', identity.id);
  return [blocker(about, `${identity.name} has not enrolled`, enrollmentRemedy(enrollment, now))];
}

function judge(services: JudgeServices, authenticator: Authenticator): Judged {
  if (authenticator.method === 'updb') return judgePassword(services, authenticator);
  const ca = services.state.tables.ca.get(authenticator.caId ?? '');
  const certificates = parsePemCertificates(authenticator.certPem ?? '');
  return judgeCertificate(services, { certificates, assumed: ca?.isVerified ? ca : undefined });
}

function proofName({ method, username }: Authenticator): string {
  return method === 'updb' ? `the password of ${username}` : 'a certificate';
}

/** Tokens of signers that the auth policy allows. */
function tokens(tables: Tables, identity: Identity, policy: AuthPolicy): string[] {
  const signers = [...tables.externalJwtSigner.values()].filter((each) => acceptsSigner(each, identity, policy));
  return signers.length > 0 ? [`a token of ${names(signers)}`] : [];
}

function certificateOf(authorities: readonly CertificateAuthority[]): string {
  return `a certificate of ${names(authorities)}`;
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
