// Initial data of a new controller: config types and the default auth policy (reference facts: HTTP entities, sections
// 7 and 14).

import type { Entity } from '../state/entity.ts';
import type { AuthPolicy } from '../state/kinds/auth-policy.ts';
import type { ConfigType } from '../state/kinds/config-type.ts';
import { HOST_SCHEMA, HOSTS_SCHEMA } from './host-schema.ts';
import { LINK_SCHEMA } from './link-schema.ts';
import {
  ADDRESS_DEFINITIONS,
  closed,
  described,
  HEALTH_DEFINITIONS,
  listOf,
  oneOf,
  port,
  ref,
  type Schema,
  setOf,
  string,
} from './schema-parts.ts';

const TUNNELER_CLIENT: Schema = {
  $id: 'http://edge.openziti.org/schemas/ziti-tunneler-client.v1.config.json',
  ...closed({ hostname: string, port }, ['hostname', 'port']),
};

const TUNNELER_SERVER: Schema = {
  $id: 'http://edge.openziti.org/schemas/ziti-tunneler-server.v1.config.json',
  definitions: HEALTH_DEFINITIONS,
  ...closed(
    {
      protocol: { type: ['string', 'null'], enum: ['tcp', 'udp'] },
      hostname: string,
      port,
      portChecks: ref('portCheckList'),
      httpChecks: ref('httpCheckList'),
    },
    ['hostname', 'port'],
  ),
};

const INTERCEPT: Schema = {
  $id: 'http://edge.openziti.org/schemas/intercept.v1.config.json',
  definitions: ADDRESS_DEFINITIONS,
  ...closed(
    {
      protocols: setOf('protocolName'),
      addresses: setOf('listenAddress'),
      portRanges: setOf('portRange'),
      dialOptions: closed({
        connectTimeoutSeconds: described(ref('timeoutSeconds'), 'Time limit of a dial, in seconds.'),
        identity: described(
          string,
          "Dial the terminator with this name. '$dst_protocol', '$dst_ip' and '$dst_port' are replaced with the destination of the connection.",
        ),
      }),
      sourceIp: described(
        string,
        "Source address, optionally with a port, from which the hosting tunneler dials. '$tunneler_id.name', '$tunneler_id.tag[NAME]', '$src_ip', '$src_port' and '$dst_port' are replaced.",
      ),
      allowedSourceAddresses: setOf('listenAddress', 'Intercept only connections from these addresses.'),
    },
    ['protocols', 'addresses', 'portRanges'],
  ),
};

const INTERFACES: Schema = {
  $id: 'https://netfoundry.io/schemas/interfaces.v1.config.json',
  definitions: HEALTH_DEFINITIONS,
  ...closed({ interfaces: listOf(string) }, ['interfaces']),
};

const PROXY: Schema = {
  $id: 'https://netfoundry.io/schemas/proxy.v1.config.json',
  definitions: { protocol: described(oneOf('tcp', 'udp'), 'A protocol to proxy.') },
  ...closed(
    {
      port: { type: 'number', minimum: 1, maximum: 65_535, description: 'Port on which the router listens.' },
      protocols: { ...listOf(ref('protocol')), minItems: 1 },
      binding: string,
    },
    ['port', 'protocols'],
  ),
};

/** id, name, target, schema */
const CONFIG_TYPES: readonly (readonly [string, string, ConfigType['target'], Schema])[] = [
  ['f2dd2df0-9c04-4b84-a91e-71437ac229f1', 'ziti-tunneler-client.v1', 'service', TUNNELER_CLIENT],
  ['cea49285-6c07-42cf-9f52-09a9b115c783', 'ziti-tunneler-server.v1', 'service', TUNNELER_SERVER],
  ['g7cIWbcGg', 'intercept.v1', 'service', INTERCEPT],
  ['NH5p4FpGR', 'host.v1', 'service', HOST_SCHEMA],
  ['host.v2', 'host.v2', 'service', HOSTS_SCHEMA],
  ['interfaces.v1', 'interfaces.v1', 'service', INTERFACES],
  ['proxy.v1', 'proxy.v1', 'service', PROXY],
  ['router.link.v1', 'router.link.v1', 'router', LINK_SCHEMA],
];

export function builtInConfigTypes(base: (id: string) => Entity): ConfigType[] {
  return CONFIG_TYPES.map(([id, name, target, schema]) => ({ ...base(id), name, target, schema }));
}

export function defaultAuthPolicy(base: Entity): AuthPolicy {
  return {
    ...base,
    isSystem: true,
    name: 'Default',
    primary: {
      cert: { allowed: true, allowExpiredCerts: true },
      extJwt: { allowed: true, allowedSigners: [] },
      updb: {
        allowed: true,
        minPasswordLength: 5,
        maxAttempts: 0,
        lockoutDurationMinutes: 0,
        requireMixedCase: false,
        requireNumberChar: false,
        requireSpecialChar: false,
      },
    },
    secondary: { requireTotp: false, requireExtJwtSigner: null },
  };
}
