// A service for tests in one call: everybody may dial it over every router, and one router hosts it.

import { joinHostPort, MAX_PORT } from '#lib/net/address.ts';
import type { State } from '../../state/state.ts';
import { requireFields, requireWholeNumber } from '../input.ts';
import { InvalidError } from '../lab-error.ts';
import { named } from '../named.ts';
import type { SeedDocument } from '../seed/export.ts';
import type { LabRouter } from './readiness.ts';

export interface NewService {
  /** Name or id of the edge router whose tunneler hosts the service. */
  readonly host: string;
  /** Port of the server, as the router reaches it. */
  readonly port: number;
  /** Host of the server, as the router reaches it; default 127.0.0.1. */
  readonly address?: string;
  /** Whether the data is encrypted from end to end; default true. */
  readonly encryptionRequired?: boolean;
}

/** A TCP address on this machine that leads to a service. */
export interface DialPlace {
  readonly host: string;
  readonly port: number;
}

export interface LabService {
  readonly id: string;
  readonly name: string;
  /** Name of the router that hosts it. */
  readonly host: string;
  /** Where clients without an SDK connect; missing if no routers run beside the simulator. */
  readonly dial?: DialPlace;
}

/** The routers that run beside the simulator (`startNetwork`). */
export interface LabRouters {
  readonly routers: readonly LabRouter[];
  /** Opens a port that leads to the service: at another router than `host`, if there is one. `from` is its name. */
  open(service: string, host: string): Promise<{ readonly dial: DialPlace; readonly from: string }>;
}

const SERVICE_FIELDS: readonly (keyof NewService)[] = ['host', 'port', 'address', 'encryptionRequired'];
const EVERYBODY = { semantic: 'AnyOf', identityRoles: ['#all'], edgeRouterRoles: ['#all'] };

/** The entities of a service. @throws InvalidError, or UnknownError for an unknown router */
export function serviceSeed({ tables }: State, name: string, service: NewService): SeedDocument {
  requireFields(service, SERVICE_FIELDS);
  const { port, address = '127.0.0.1', encryptionRequired = true } = service;
  requireWholeNumber('port', port, 1, MAX_PORT);
  const router = named(tables.router, 'router', service.host);
  if (!tables.identity.has(router.id))
    throw new InvalidError(
      'host',
      `${router.name} has no tunneler (isTunnelerEnabled), so it hosts no services`,
      router.name,
    );
  if (tables.service.findBy('name', name))
    throw new InvalidError('name', `the service ${name} exists; choose another name, or delete it first`, name);
  const serviceRoles = [`@${name}`];
  return {
    edgeRouterPolicies: [{ name: 'everybody', ...EVERYBODY }],
    configs: [
      {
        name: `${name}-${joinHostPort(address, port)}`,
        configType: '@host.v1',
        data: { protocol: 'tcp', address, port },
      },
    ],
    services: [{ name, encryptionRequired, configs: [`@${name}-${joinHostPort(address, port)}`] }],
    servicePolicies: [
      { name: `${name}-dial`, type: 'Dial', semantic: 'AnyOf', identityRoles: ['#all'], serviceRoles },
      { name: `${name}-bind`, type: 'Bind', semantic: 'AnyOf', identityRoles: [`@${router.name}`], serviceRoles },
    ],
    serviceEdgeRouterPolicies: [
      { name: `${name}-routers`, semantic: 'AnyOf', serviceRoles, edgeRouterRoles: ['#all'] },
    ],
  };
}
