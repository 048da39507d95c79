// Explains whether an identity may dial or bind a service now: every rule that decides, with the remedy for each that
// is not satisfied. The rules themselves are in access/, posture/ and network/.

import type { Access } from '../../access/access.ts';
import type { JudgeServices } from '../../auth/judge-login.ts';
import type { Network } from '../../network/network.ts';
import type { Posture } from '../../posture/posture.ts';
import type { PermissionType } from '../../state/entity.ts';
import type { Identity } from '../../state/kinds/identity.ts';
import type { Service } from '../../state/kinds/service.ts';
import { requireFields } from '../input.ts';
import { InvalidError, UnknownError } from '../lab-error.ts';
import { named } from '../named.ts';
import type { Finding } from './finding.ts';
import { explainHosting } from './hosting.ts';
import { explainIdentity } from './identity.ts';
import { explainRouters } from './routers.ts';
import { explainServiceAccess } from './service-access.ts';
import { explainTerminators } from './terminators.ts';

export interface WhyComponents extends JudgeServices {
  readonly access: Access;
  readonly posture: Posture;
  readonly network: Network;
}

/** Identities, services and routers by id or name. */
export interface WhyQuestion {
  readonly identity: string;
  readonly service: string;
  readonly type: PermissionType;
  /** Only over this router. */
  readonly router?: string | undefined;
  /** Only in the API session with this id. */
  readonly session?: string | undefined;
}

export interface WhyAnswer {
  readonly allowed: boolean;
  readonly identity: { readonly id: string; readonly name: string };
  readonly service: { readonly id: string; readonly name: string };
  readonly type: PermissionType;
  readonly reasons: readonly Finding[];
}

const QUESTION_FIELDS: readonly (keyof WhyQuestion)[] = ['identity', 'service', 'type', 'router', 'session'];

/** @throws UnknownError for an unknown name, InvalidError for another type than Dial and Bind */
export function explainWhy(components: WhyComponents, question: WhyQuestion): WhyAnswer {
  const { state, access, posture, network, clock } = components;
  const { tables } = state;
  requireFields(question, QUESTION_FIELDS);
  const { type } = question;
  if (type !== 'Dial' && type !== 'Bind') throw new InvalidError('type', 'the type is Dial or Bind', type);
  const identity = named(tables.identity, 'identity', question.identity);
  const service = named(tables.service, 'service', question.service);
  const router = question.router === undefined ? undefined : named(tables.router, 'router', question.router);
  const sessionId = question.session;
  if (sessionId !== undefined) requireSession(components, identity, sessionId);
  const now = clock.now();
  const routers = explainRouters({ tables, access, network }, { identity, service, router });
  const reasons = [
    ...explainIdentity(components, identity),
    ...explainServiceAccess({ tables, access, posture, now }, { identity, service, type, sessionId }),
    ...routers.findings,
    ...(type === 'Dial'
      ? explainTerminators({ tables, network }, service, routers.usable)
      : explainHosting({ tables, network }, { identity, service, usable: routers.usable })),
  ];
  return {
    allowed: !reasons.some(({ blocking }) => blocking),
    identity: short(identity),
    service: short(service),
    type,
    reasons,
  };
}

/** @throws UnknownError if it is not a session of the identity */
export function requireSession(
  { state, posture }: Pick<WhyComponents, 'state' | 'posture'>,
  { id, name }: Identity,
  sessionId: string,
): void {
  const isStored = state.tables.apiSession.get(sessionId)?.identityId === id;
  if (!isStored && !posture.dataOf(id)?.sessions.has(sessionId))
    throw new UnknownError(`${name} has no session ${sessionId}; leave it out to explain all of its sessions`);
}

function short({ id, name }: Identity | Service): { id: string; name: string } {
  return { id, name };
}
