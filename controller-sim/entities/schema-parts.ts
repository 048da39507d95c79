// Parts that schemas of built-in config types share: health checks, addresses and ports (reference fact: HTTP entities,
// section 7). They are definitions, as clients that build forms from schemas expect.

export type Schema = Readonly<Record<string, unknown>>;

export const string: Schema = { type: 'string' };

export function ref(name: string): Schema {
  return { $ref: `#/definitions/${name}` };
}

export function described(schema: Schema, description: string): Schema {
  return { ...schema, description };
}

/** An object without other properties. */
export function closed(properties: Schema, required: readonly string[] = []): Schema {
  return { type: 'object', additionalProperties: false, properties, ...(required.length > 0 && { required }) };
}

export function listOf(items: Schema): Schema {
  return { type: 'array', items };
}

export function oneOf(...values: readonly string[]): Schema {
  return { type: 'string', enum: values };
}

export function integer(minimum: number, maximum?: number): Schema {
  return { type: 'integer', minimum, ...(maximum !== undefined && { maximum }) };
}

/** A non-empty set of values of a definition. */
export function setOf(name: string, description?: string): Schema {
  return { allOf: [ref('inhabitedSet'), { items: ref(name) }], ...(description !== undefined && { description }) };
}

const translation = (format: 'ipv4' | 'ipv6', longest: number): Schema =>
  closed({ from: { type: 'string', format }, to: { type: 'string', format }, prefixLength: integer(0, longest) });
const address: Schema = { type: 'string', format: 'idn-hostname', not: { pattern: '^$' } };

export const port = integer(0, 65_535);

/** Health checks of a hosted service, and the actions that they trigger. */
export const HEALTH_DEFINITIONS: Schema = {
  action: closed(
    {
      trigger: oneOf('fail', 'pass', 'change'),
      consecutiveEvents: integer(0, 65_535),
      duration: ref('duration'),
      action: {
        type: 'string',
        pattern: '(mark (un)?healthy|increase cost [0-9]+|decrease cost [0-9]+|send event)',
      },
    },
    ['trigger', 'action'],
  ),
  actionList: { ...listOf(ref('action')), minItems: 1, maxItems: 20 },
  duration: { type: 'string', pattern: '[0-9]+(h|m|s|ms)' },
  httpCheck: closed(
    {
      interval: ref('duration'),
      timeout: ref('duration'),
      url: string,
      method: ref('method'),
      body: string,
      expectStatus: integer(100, 599),
      expectInBody: string,
      actions: ref('actionList'),
    },
    ['interval', 'timeout', 'url'],
  ),
  httpCheckList: listOf(ref('httpCheck')),
  method: oneOf('GET', 'POST', 'PUT', 'PATCH'),
  portCheck: closed(
    { interval: ref('duration'), timeout: ref('duration'), address: string, actions: ref('actionList') },
    ['interval', 'timeout', 'address'],
  ),
  portCheckList: listOf(ref('portCheck')),
};

/** Addresses to intercept and to dial. */
export const ADDRESS_DEFINITIONS: Schema = {
  addressTranslation: { oneOf: [ref('ipv4AddressTranslation'), ref('ipv6AddressTranslation')] },
  dialAddress: address,
  inhabitedSet: { type: 'array', minItems: 1, uniqueItems: true },
  ipv4AddressTranslation: translation('ipv4', 32),
  ipv6AddressTranslation: translation('ipv6', 128),
  listenAddress: described(address, 'A host name, with or without wildcard, an IP address, or a CIDR.'),
  portNumber: port,
  portRange: closed({ low: ref('portNumber'), high: ref('portNumber') }, ['low', 'high']),
  protocolName: oneOf('tcp', 'udp'),
  proxyConfiguration: {
    type: 'object',
    properties: {
      type: described(ref('proxyType'), 'Protocol of the proxy.'),
      address: described(string, 'Address of the proxy as host:port.'),
    },
    required: ['type', 'address'],
  },
  proxyType: described(oneOf('http'), 'Supported proxy protocols.'),
  timeoutSeconds: integer(0, 2_147_483_647),
};
