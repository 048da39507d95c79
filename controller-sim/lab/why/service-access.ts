// The service policies that decide whether an identity may dial or bind a service, and the posture checks that they
// demand of its sessions.

import type { Access } from '../../access/access.ts';
import type { Posture } from '../../posture/posture.ts';
import type { PermissionType } from '../../state/entity.ts';
import type { Identity } from '../../state/kinds/identity.ts';
import type { Service } from '../../state/kinds/service.ts';
import type { ServicePolicy } from '../../state/kinds/service-policy.ts';
import type { Tables } from '../../state/tables.ts';
import { alternatives, bad, blocker, type Finding, good, limited } from './finding.ts';
import { incompleteSession, isComplete } from './identity.ts';
import { lacking, missingRole } from './near-policies.ts';
import { postureProblem, postureSuccess } from './posture-problem.ts';
import { type KnownSession, NO_SESSION, sessionsOf } from './sessions.ts';

export interface ServiceQuestion {
  readonly identity: Identity;
  readonly service: Service;
  readonly type: PermissionType;
  /** Only this session; all sessions of the identity if undefined. */
  readonly sessionId: string | undefined;
}

interface Components {
  readonly tables: Tables;
  readonly access: Access;
  readonly posture: Posture;
  /** Milliseconds. */
  readonly now: number;
}

export function explainServiceAccess(components: Components, question: ServiceQuestion): Finding[] {
  const { access } = components;
  const { identity, service, type } = question;
  if (service.isFabricOnly)
    return [
      blocker(
        ['service', service],
        `${service.name} was created through the fabric API, which service policies ignore`,
        'create it through the management API',
      ),
    ];
  const granting = access.granting(identity.id, service.id).filter((policy) => policy.type === type);
  if (granting.length === 0) return nearPolicies(components, question);
  return [
    ...limited(granting.map((policy) => good(['servicePolicy', policy], `${policy.name} grants ${type}`))),
    ...explainSessions(components, question, granting),
  ];
}

/** No policy grants it: those that have one side of the pair, the service's first. */
function nearPolicies({ tables, access }: Components, { identity, service, type }: ServiceQuestion): Finding[] {
  const near = [...tables.servicePolicy.values()]
    .filter((policy) => policy.type === type)
    .map((policy) => ({ policy, members: access.membership(policy.id) }));
  const withService = near.filter(({ members }) => members.right.has(service.id));
  const withIdentity = near.filter(({ members }) => members.left.has(identity.id));
  const none = blocker(
    ['service', service],
    `no service policy lets ${identity.name} ${type.toLowerCase()} ${service.name}`,
    `create a ${type} policy with both, or change one of the policies below`,
    {
      servicePolicies: [
        {
          name: `${identity.name} ${type.toLowerCase()}s ${service.name}`,
          type,
          semantic: 'AnyOf',
          identityRoles: [`@${identity.name}`],
          serviceRoles: [`@${service.name}`],
        },
      ],
    },
  );
  const other = access.permissions(identity.id, service.id);
  const findings = [
    ...withService.map(({ policy }) => nearMiss(policy, 'identity', policy.identityRoles, identity)),
    ...withIdentity.map(({ policy }) => nearMiss(policy, 'service', policy.serviceRoles, service)),
  ];
  const only = other.map((each) =>
    good(['service', service], `${identity.name} may ${each.toLowerCase()} ${service.name}`),
  );
  const remedy = `create a ${type} policy with both`;
  return findings.length === 0 ? [{ ...none, remedy }, ...only] : [none, ...only, ...limited(findings)];
}

function nearMiss(
  policy: ServicePolicy,
  word: 'identity' | 'service',
  roles: readonly string[],
  entity: { readonly id: string; readonly name: string; readonly roleAttributes: readonly string[] },
): Finding {
  return lacking(['servicePolicy', policy], missingRole(policy, { word, roles, entity }));
}

/** A session needs its second factor, and the posture for one of the policies. One such session is enough. */
function explainSessions(components: Components, question: ServiceQuestion, granting: ServicePolicy[]): Finding[] {
  const sessions = sessionsOf(components, question.identity.id, question.sessionId);
  const verdicts = sessions.map((known) => explainSession(components, question, granting, known));
  const works = verdicts.some(({ isPassing }) => isPassing);
  const findings = alternatives(
    verdicts.flatMap((verdict) => verdict.findings),
    works,
  );
  if (sessions[0]?.id !== NO_SESSION.id) return limited(findings);
  const { identity } = question;
  return [good(['identity', identity], `${identity.name} has no session: it has to log in first`), ...findings];
}

function explainSession(
  { access, posture, now }: Components,
  { identity }: ServiceQuestion,
  granting: readonly ServicePolicy[],
  { id, session }: KnownSession,
): { isPassing: boolean; findings: Finding[] } {
  const isLoggedIn = session === undefined || isComplete(session);
  const state = posture.stateOf(identity.id, id);
  const where = id === '' ? '' : ` in the session ${id}`;
  const findings: Finding[] = isLoggedIn ? [] : [incompleteSession(id)];
  let isPassing = false;
  for (const policy of granting) {
    const checks = access.checksOf(policy);
    const problems = checks.map((check) => ({ check, problem: postureProblem(check, state, now) }));
    for (const { check, problem } of problems) {
      const what = `${check.name} (${check.typeId}) of ${policy.name}`;
      findings.push(
        problem
          ? bad(['postureCheck', check], `${what} fails${where}: ${problem.message}`, problem.remedy)
          : good(['postureCheck', check], `${what} ${postureSuccess(check, state)}${where}`),
      );
    }
    if (problems.every(({ problem }) => !problem)) isPassing = true;
  }
  return { isPassing: isPassing && isLoggedIn, findings };
}
