// What a fresh controller holds: config types, the default auth policy (reference facts: HTTP entities, sections 7 and 14).

import type { AuthPolicy, ConfigType, Entity } from '../state/types.ts';
import { hostSchema, hostsSchema } from './host-schema.ts';

type Schema = Readonly<Record<string, unknown>>;

const port: Schema = { type: 'integer', minimum: 0, maximum: 65_535 };
const text: Schema = { type: 'string' };
const hostname: Schema = { type: 'string', format: 'idn-hostname', not: { pattern: '^$' } };
const duration: Schema = { type: 'string', pattern: '[0-9]+(h|m|s|ms)' };
const protocol: Schema = { type: 'string', enum: ['tcp', 'udp'] };
const uint16: Schema = { type: 'integer', minimum: 0, maximum: 65_535 };
const int31: Schema = { type: 'integer', minimum: 0, maximum: 2_147_483_647 };

function closed(properties: Schema, required: readonly string[] = []): Schema {
  return { type: 'object', additionalProperties: false, properties, ...(required.length > 0 && { required }) };
}

function setOf(items: Schema): Schema {
  return { type: 'array', minItems: 1, uniqueItems: true, items };
}

const portRange = closed({ low: port, high: port }, ['low', 'high']);
const actions = (triggers: readonly string[], pattern: string): Schema => ({
  type: 'array',
  minItems: 1,
  maxItems: 20,
  items: closed(
    {
      trigger: { type: 'string', enum: triggers },
      consecutiveEvents: uint16,
      duration,
      action: { type: 'string', pattern },
    },
    ['trigger', 'action'],
  ),
});
const serverActions = actions(['fail', 'pass'], '(mark (un)?healthy|increase cost [0-9]+|decrease cost [0-9]+)');
const portChecks = (action: Schema): Schema => ({
  type: 'array',
  items: closed({ interval: duration, timeout: duration, address: text, actions: action }, [
    'interval',
    'timeout',
    'address',
  ]),
});
const httpChecks = (action: Schema): Schema => ({
  type: 'array',
  items: closed(
    {
      interval: duration,
      timeout: duration,
      url: text,
      method: { type: 'string', enum: ['GET', 'POST', 'PUT', 'PATCH'] },
      body: text,
      expectStatus: { type: 'integer', minimum: 100, maximum: 599 },
      expectInBody: text,
      actions: action,
    },
    ['interval', 'timeout', 'url'],
  ),
});
const linkDuration: Schema = { type: 'string', pattern: '^([0-9]+(\\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$' };
const groups: Schema = { oneOf: [text, { type: 'array', items: text }] };
const linkOptions = closed({
  connectTimeout: linkDuration,
  writeTimeout: linkDuration,
  maxOutstandingConnects: { type: 'integer', minimum: 1, maximum: 1000 },
  maxQueuedConnects: { type: 'integer', minimum: 0, maximum: 5000 },
  outQueueSize: { type: 'integer', minimum: 0 },
});
const linkBackoff = closed({
  minRetryInterval: linkDuration,
  maxRetryInterval: linkDuration,
  retryBackoffFactor: { type: 'number', minimum: 1, maximum: 100 },
});

/** id, name, target, schema */
const CONFIG_TYPES: readonly (readonly [string, string, ConfigType['target'], Schema])[] = [
  [
    'f2dd2df0-9c04-4b84-a91e-71437ac229f1',
    'ziti-tunneler-client.v1',
    'service',
    closed({ hostname: text, port }, ['hostname', 'port']),
  ],
  [
    'cea49285-6c07-42cf-9f52-09a9b115c783',
    'ziti-tunneler-server.v1',
    'service',
    closed(
      {
        protocol: { type: ['string', 'null'], enum: ['tcp', 'udp', null] },
        hostname: text,
        port,
        portChecks: portChecks(serverActions),
        httpChecks: httpChecks(serverActions),
      },
      ['hostname', 'port'],
    ),
  ],
  [
    'g7cIWbcGg',
    'intercept.v1',
    'service',
    closed(
      {
        protocols: setOf(protocol),
        addresses: setOf(hostname),
        portRanges: setOf(portRange),
        dialOptions: closed({ connectTimeoutSeconds: int31, identity: text }),
        sourceIp: text,
        allowedSourceAddresses: setOf(hostname),
      },
      ['protocols', 'addresses', 'portRanges'],
    ),
  ],
  ['NH5p4FpGR', 'host.v1', 'service', hostSchema('host.v1.schema.json')],
  ['host.v2', 'host.v2', 'service', hostsSchema('host.v2.schema.json')],
  ['interfaces.v1', 'interfaces.v1', 'service', closed({ interfaces: { type: 'array', items: text } }, ['interfaces'])],
  [
    'proxy.v1',
    'proxy.v1',
    'service',
    closed(
      {
        port: { type: 'number', minimum: 1, maximum: 65_535 },
        protocols: { type: 'array', minItems: 1, items: protocol },
        binding: text,
      },
      ['port', 'protocols'],
    ),
  ],
  [
    'router.link.v1',
    'router.link.v1',
    'router',
    closed({
      listeners: {
        type: 'array',
        items: closed(
          {
            bind: { type: 'string', minLength: 1 },
            binding: text,
            advertise: text,
            bindInterface: text,
            groups,
            options: linkOptions,
          },
          ['bind'],
        ),
      },
      dialers: {
        type: 'array',
        items: closed({
          binding: text,
          bindInterface: text,
          groups,
          healthyDialBackoff: linkBackoff,
          unhealthyDialBackoff: linkBackoff,
          maxDefaultConnections: { type: 'integer', minimum: 1, maximum: 100 },
          maxAckConnections: { type: 'integer', minimum: 0, maximum: 100 },
          startupDelay: linkDuration,
          options: linkOptions,
        }),
      },
      heartbeats: closed({
        sendInterval: linkDuration,
        checkInterval: linkDuration,
        closeUnresponsiveTimeout: linkDuration,
      }),
      gcMode: { type: 'string', enum: ['preserve', 'orphaned', 'changed'] },
      payloadSenderQueueSize: { type: 'integer', minimum: 1 },
      ackSenderQueueSize: { type: 'integer', minimum: 1 },
    }),
  ],
];

export function builtInConfigTypes(base: (id: string) => Entity): ConfigType[] {
  return CONFIG_TYPES.map(([id, name, target, schema]) => ({ ...base(id), name, target, schema }));
}

export function defaultAuthPolicy(base: Entity): AuthPolicy {
  return {
    ...base,
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
