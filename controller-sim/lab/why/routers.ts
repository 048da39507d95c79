// The routers over which an identity may use a service, and which of them are online.

import type { Access } from '../../access/access.ts';
import type { Network } from '../../network/network.ts';
import type { Identity } from '../../state/kinds/identity.ts';
import type { Router } from '../../state/kinds/router.ts';
import type { Service } from '../../state/kinds/service.ts';
import { inWords, type PolicyKind } from '../../state/kinds.ts';
import type { Tables } from '../../state/tables.ts';
import type { SeedDocument } from '../seed/export.ts';
import { alternatives, bad, blocker, type Finding, good, limited, names } from './finding.ts';
import { lacking, missingRole } from './near-policies.ts';

interface Components {
  readonly tables: Tables;
  readonly access: Access;
  readonly network: Network;
}

interface RouterQuestion {
  readonly identity: Identity;
  readonly service: Service;
  /** Only this router; any router if undefined. */
  readonly router: Router | undefined;
}

export interface RouterFindings {
  readonly findings: Finding[];
  /** Routers that both may use and that are online. */
  readonly usable: readonly Router[];
}

export function explainRouters(components: Components, { identity, service, router }: RouterQuestion): RouterFindings {
  const { access, network } = components;
  const common = access.commonRouters(identity.id, service.id).filter(({ id }) => !router || id === router.id);
  const usable = common.filter(({ id }) => network.status(id).isOnline);
  if (common.length > 0) {
    const lines = common.map((each) => describe(components, each, { identity, service }));
    return { findings: limited(alternatives(lines, usable.length > 0)), usable };
  }
  const findings = router
    ? oneRouter(components, router, { identity, service })
    : noRouter(components, { identity, service });
  return { findings, usable };
}

interface Pair {
  readonly identity: Identity;
  readonly service: Service;
}

function describe({ access, network, tables }: Components, router: Router, { identity, service }: Pair): Finding {
  const policies = (kind: PolicyKind, leftId: string) =>
    names(access.policiesJoining(kind, leftId, router.id).flatMap((id) => tables[kind].get(id) ?? []));
  const by = `by ${policies('edgeRouterPolicy', identity.id)} and ${policies('serviceEdgeRouterPolicy', service.id)}`;
  if (network.status(router.id).isOnline)
    return good(['router', router], `the router ${router.name} is allowed ${by}, and online`);
  return bad(['router', router], `the router ${router.name} is allowed ${by}, but offline`, offlineRemedy(router));
}

/** Start it, enable it, or enroll it. */
export function offlineRemedy({ name, disabled, isVerified }: Router): string {
  if (!isVerified) return `enroll ${name} and start it`;
  return disabled ? `enable ${name}` : `start ${name}`;
}

function noRouter({ access }: Components, { identity, service }: Pair): Finding[] {
  const ofIdentity = access.routersOfIdentity(identity.id);
  const ofService = access.routersOfService(service.id);
  const findings: Finding[] = [];
  if (ofIdentity.length === 0)
    findings.push(
      blocker(
        ['identity', identity],
        `no edge router policy lets ${identity.name} use any router`,
        'create an edge router policy, for example with #all and #all',
        policyFor('identity', identity, '#all'),
      ),
    );
  if (ofService.length === 0)
    findings.push(
      blocker(
        ['service', service],
        `no service edge router policy lets ${service.name} use any router`,
        'create a service edge router policy, for example with #all and #all',
        policyFor('service', service, '#all'),
      ),
    );
  if (findings.length > 0) return findings;
  return [
    blocker(
      ['service', service],
      `${identity.name} may use ${names(ofIdentity)}, ${service.name} may use ${names(ofService)}: they have no router in common`,
      'add a router to the other kind of policy',
    ),
  ];
}

/** The policies that do not join the pair with this router. */
function oneRouter(components: Components, router: Router, { identity, service }: Pair): Finding[] {
  return [
    ...toRouter(components, 'edgeRouterPolicy', router, ['identity', identity]),
    ...toRouter(components, 'serviceEdgeRouterPolicy', router, ['service', service]),
  ];
}

type Member = readonly ['identity', Identity] | readonly ['service', Service];

/** A policy that lets an identity or a service use these routers. */
function policyFor(word: Member[0], { name }: Member[1], routers: string): SeedDocument {
  const common = { name: `${name} over ${routers}`, semantic: 'AnyOf', edgeRouterRoles: [routers] };
  return word === 'identity'
    ? { edgeRouterPolicies: [{ ...common, identityRoles: [`@${name}`] }] }
    : { serviceEdgeRouterPolicies: [{ ...common, serviceRoles: [`@${name}`] }] };
}

function toRouter(
  { access, tables }: Components,
  kind: 'edgeRouterPolicy' | 'serviceEdgeRouterPolicy',
  router: Router,
  [word, entity]: Member,
): Finding[] {
  const joining = access.policiesJoining(kind, entity.id, router.id).flatMap((id) => tables[kind].get(id) ?? []);
  if (joining.length > 0)
    return [good([kind, joining[0] ?? router], `${names(joining)} lets ${entity.name} use ${router.name}`)];
  const none = blocker(
    [word, entity],
    `no ${inWords(kind)} lets ${entity.name} use the router ${router.name}`,
    `create a ${inWords(kind)} with both`,
    policyFor(word, entity, `@${router.name}`),
  );
  const near = access.policiesWith(kind, 'left', entity.id).flatMap((id) => tables[kind].get(id) ?? []);
  const misses = near.map((policy) => {
    const side = { word: 'router' as const, roles: policy.edgeRouterRoles, entity: router };
    return lacking([kind, policy], missingRole(policy, side));
  });
  return [none, ...limited(misses)];
}
