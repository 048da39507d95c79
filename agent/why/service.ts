// Explains whether an identity may dial or bind a service at this router: what the router's copy of the network's data
// says, and how clients reach the service here. Only the controller knows the terminators and the path of a circuit.

import { ProjectError } from '#lib/errors.ts';
import { shown } from '#lib/text/shown-text.ts';
import { meantOrKnown } from '#lib/text/suggestion.ts';
import type { DataState_Identity, DataState_Service } from '#wire/gen/edge_control_pb.js';
import { Access } from '../access/access.ts';
import type { DataModel, Permission } from '../access/data-model.ts';
import type { SdkClients } from '../ingress/edge/clients/sdk-clients.ts';
import type { Terminators } from '../ingress/terminators/terminators.ts';
import type { Tunneler } from '../ingress/tunnel/tunneler.ts';
import { explainControllers, type KnownControllers } from './controllers.ts';
import { bad, blocker, type Explanation, explanation, good, MAX_LISTED, type Reason } from './reason.ts';

export interface ServiceQuestionComponents {
  readonly routerId: string;
  /** Undefined for a router without edge listeners: it only carries circuits. */
  readonly model: DataModel | undefined;
  readonly controllers: KnownControllers;
  readonly tunneler: Pick<Tunneler, 'proxies' | 'interception'> | undefined;
  readonly clients: Pick<SdkClients, 'all'> | undefined;
  readonly terminators: Pick<Terminators, 'describe'> | undefined;
  readonly acceptsCircuits: () => boolean;
  /** Milliseconds. */
  readonly now: number;
}

export interface ServiceQuestion {
  /** Id or name. */
  readonly service: string;
  readonly permission: Permission;
  /** Id or name; undefined: the router's own identity, which its tunneler uses. */
  readonly identity: string | undefined;
}

interface Known {
  readonly model: DataModel;
  readonly identity: DataState_Identity;
  readonly service: DataState_Service;
  readonly permission: Permission;
}

/** Names in an error. */
const MAX_NAMED = 10;

/** @throws ProjectError NOT_FOUND for an unknown service or identity, with similar names */
export function explainService(components: ServiceQuestionComponents, question: ServiceQuestion): Explanation {
  const { model, controllers, acceptsCircuits } = components;
  const { permission } = question;
  const reasons: Reason[] = [];
  if (!acceptsCircuits())
    reasons.push(blocker('this router drains and accepts no circuits', 'edgeweave-router drain FILE --cancel'));
  reasons.push(...explainControllers(controllers));
  const summaries = (identity: string, service: string) =>
    [`${identity} may ${permission} ${service} here`, `${identity} may not ${permission} ${service} here`] as const;
  const asked = summaries(question.identity ?? 'this router', question.service);
  if (!model || model.index === 0n) {
    const remedy = model ? 'wait until a controller is connected' : 'add an edge or tunnel listener';
    const message = model ? 'the data of the network has not arrived yet' : 'this router serves no clients';
    return explanation([...reasons, blocker(message, remedy)], ...asked);
  }
  const service = found('service', question.service, model.services);
  if (question.identity === undefined && !model.identities.has(components.routerId)) {
    const remedy = 'enable it at the controller: PATCH the edge router with isTunnelerEnabled: true';
    return explanation([...reasons, blocker('the tunneler of this router has no identity', remedy)], ...asked);
  }
  const identity = found('identity', question.identity ?? components.routerId, model.identities);
  const known = { model, identity, service, permission };
  reasons.push(...explainPolicies(known), ...explainClients(components, known));
  if (permission === 'dial' && reasons.every(({ blocking }) => !blocking))
    reasons.push(good('the controller chooses the terminator and the path: `ziti edge policy-advisor services`'));
  return explanation(reasons, ...summaries(identity.name, service.name));
}

function found<T extends { readonly name: string }>(
  word: 'service' | 'identity',
  given: string,
  table: ReadonlyMap<string, T>,
): T {
  const byId = table.get(given);
  if (byId) return byId;
  const names: string[] = [];
  for (const each of table.values()) {
    if (each.name === given) return each;
    names.push(each.name);
  }
  const meant = names.length === 0 ? 'it knows none' : meantOrKnown(given, names, MAX_NAMED);
  throw new ProjectError('NOT_FOUND', `this router knows no ${word} ${shown(given)}; ${meant}`);
}

function explainPolicies({ model, identity, service, permission }: Known): Reason[] {
  if (identity.disabled) return [blocker(`${identity.name} is disabled`, 'enable it at the controller')];
  const granting = model.policiesJoining(identity.id, service.id, permission);
  if (granting.length > 0)
    return [
      good(
        `granted by ${granting
          .slice(0, MAX_NAMED)
          .map(({ name }) => name)
          .join(', ')}`,
      ),
    ];
  const other = permission === 'dial' ? 'bind' : 'dial';
  const also = model.policiesJoining(identity.id, service.id, other).length > 0;
  const message = `no policy lets ${identity.name} ${permission} ${service.name}${also ? `; it may ${other} it` : ''}`;
  return [blocker(message, `create a ${permission} policy with both at the controller`)];
}

function explainClients(components: ServiceQuestionComponents, known: Known): Reason[] {
  const isOwn = known.identity.id === components.routerId;
  const sessions = [...(components.clients?.all() ?? [])].filter(
    ({ session }) => session.identityId === known.identity.id,
  );
  if (isOwn && sessions.length === 0) return ownAccess(components, known);
  if (sessions.length === 0)
    return [bad(`no SDK client of ${known.identity.name} is connected to this router`, 'start it, or ask its router')];
  const verdicts = sessions
    .slice(0, MAX_LISTED)
    .map(({ subject, session }) => posture(components, known, { subject, id: session.id }));
  const works = verdicts.some(({ ok }) => ok);
  return works ? verdicts.map(({ blocking: _, ...each }) => each) : verdicts;
}

function posture(
  { now }: ServiceQuestionComponents,
  { model, service, permission }: Known,
  { subject, id }: { readonly subject: Parameters<Access['decide']>[0]; readonly id: string },
): Reason {
  const access = new Access(model);
  const verdict = access.decide(subject, service.id, permission, now);
  const where = `in the session ${id}`;
  if (verdict.granted) return good(`its posture checks pass ${where}`);
  const { failingChecks } = verdict;
  if (failingChecks.length === 0) return blocker(`nothing is granted ${where}`, 'see the policies above');
  const why = access.explain(failingChecks.slice(0, MAX_NAMED), subject.posture, now).join('; ');
  return blocker(`posture checks fail ${where}: ${why}`, 'let the client report another value, or change the checks');
}

/** How the tunneler serves the service here. It is not subject to posture checks of its own. */
function ownAccess({ tunneler, terminators }: ServiceQuestionComponents, known: Known): Reason[] {
  if (!tunneler)
    return [
      blocker('this router has no tunneler', 'add a listener with the binding tunnel, in the mode that you need'),
    ];
  return known.permission === 'dial' ? waysIn(tunneler, known) : hosted(terminators, known);
}

function waysIn({ proxies, interception }: Pick<Tunneler, 'proxies' | 'interception'>, known: Known): Reason[] {
  const { model, service, identity } = known;
  const ports = proxies.filter((each) => each.service === service.name);
  if (ports.length > 0)
    return ports.map(({ port, protocol }) => good(`port ${port} (${protocol}) of this router leads to it`));
  const configs = [...model.configsFor(service, identity).keys()];
  if (interception && configs.some((name) => INTERCEPTS.includes(name)))
    return [good(`its traffic is intercepted on this machine (${configs.join(', ')})`)];
  if (interception)
    return [blocker(`${service.name} has no configuration that names addresses to intercept`, 'add an intercept.v1')];
  return [
    blocker(
      `no port of this router leads to ${service.name}`,
      'add it to the services of the tunnel listener in mode proxy, or use the mode tproxy',
    ),
  ];
}

/** Names of the config types that the interception reads. */
const INTERCEPTS = ['intercept.v1', 'ziti-tunneler-client.v1'];

function hosted(terminators: ServiceQuestionComponents['terminators'], { model, service, identity }: Known): Reason[] {
  const kept = (terminators?.describe() ?? []).filter(
    (each) => each.binding === 'tunnel' && each.serviceName === service.name,
  );
  if (kept.length > 0)
    return kept
      .slice(0, MAX_LISTED)
      .map(({ id, state }) =>
        state === 'established'
          ? good(`this router hosts it with the terminator ${id}`)
          : bad(`the terminator ${id} is ${state}`, 'see the log of the router'),
      );
  const configs = [...model.configsFor(service, identity).keys()];
  if (!configs.some((name) => HOSTS.includes(name)))
    return [blocker(`${service.name} has no configuration that says where it runs`, `add a ${HOSTS[0]}`)];
  return [bad(`this router hosts no terminator of ${service.name}`, 'see the log of the router')];
}

/** Names of the config types that hosting reads. */
const HOSTS = ['host.v1', 'host.v2', 'ziti-tunneler-server.v1'];
