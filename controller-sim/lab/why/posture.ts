// Explains whether an identity passes the posture checks that its service policies demand, in each of its sessions.

import type { Access } from '../../access/access.ts';
import type { Posture } from '../../posture/posture.ts';
import type { Identity } from '../../state/kinds/identity.ts';
import type { PostureCheck } from '../../state/kinds/posture-check.ts';
import type { Tables } from '../../state/tables.ts';
import { type Explanation, explanation } from './explanation.ts';
import { blocker, type Finding, good, limited, names } from './finding.ts';
import { postureProblem, postureSuccess } from './posture-problem.ts';
import { sessionsOf } from './sessions.ts';

export interface PostureOptions {
  /** Only in the API session with this id. */
  readonly session?: string | undefined;
}

interface Components {
  readonly tables: Tables;
  readonly access: Access;
  readonly posture: Posture;
  /** Milliseconds. */
  readonly now: number;
}

/** A check with the policies that demand it. */
interface Demanded {
  readonly check: PostureCheck;
  readonly policies: { readonly name: string }[];
}

/**
 * `sessionId`: only in this session; undefined: in all sessions. It holds if every demanded check passes in one of
 * them.
 */
export function explainPosture(components: Components, identity: Identity, sessionId: string | undefined): Explanation {
  const { name } = identity;
  const demanded = demandsOf(components, identity);
  const summaries = [`${name} passes its posture checks`, `${name} does not pass its posture checks`] as const;
  if (demanded.length === 0)
    return explanation(
      [good(['identity', identity], `no service policy of ${name} demands posture checks`)],
      ...summaries,
    );
  const verdicts = sessionsOf(components, identity.id, sessionId).map(({ id }) =>
    inSession(components, identity, id, demanded),
  );
  const works = verdicts.some((findings) => findings.every(({ ok }) => ok));
  const findings = verdicts.flat();
  return explanation(limited(works ? findings.map(unblocked) : findings), ...summaries);
}

/** Another session passes. */
function unblocked({ blocking: _, ...finding }: Finding): Finding {
  return finding;
}

function demandsOf({ tables, access }: Components, identity: Identity): Demanded[] {
  const demanded = new Map<string, Demanded>();
  for (const id of access.policiesWith('servicePolicy', 'left', identity.id)) {
    const policy = tables.servicePolicy.get(id);
    if (!policy) continue;
    for (const check of access.checksOf(policy)) {
      const known = demanded.get(check.id) ?? { check, policies: [] };
      known.policies.push(policy);
      demanded.set(check.id, known);
    }
  }
  return [...demanded.values()];
}

function inSession(
  { posture, now }: Components,
  identity: Identity,
  sessionId: string,
  demanded: readonly Demanded[],
): Finding[] {
  const state = posture.stateOf(identity.id, sessionId);
  const where = sessionId === '' ? ' (no session: it has to log in first)' : ` in the session ${sessionId}`;
  return demanded.map(({ check, policies }) => {
    const what = `${check.name} (${check.typeId}) of ${names(policies)}`;
    const problem = postureProblem(check, state, now);
    if (!problem) return good(['postureCheck', check], `${what} ${postureSuccess(check, state)}${where}`);
    return blocker(['postureCheck', check], `${what} fails${where}: ${problem.message}`, problem.remedy);
  });
}
