// The schema of host.v1: how a tunneler dials what a service stands for (reference fact: HTTP entities, section 7). Consoles make forms of
// it, so each key says what it does.

type Schema = Readonly<Record<string, unknown>>;

const ref = (name: string): Schema => ({ $ref: `#/definitions/${name}` });
const described = (schema: Schema, description: string): Schema => ({ ...schema, description });
const setOf = (name: string, description: string): Schema => ({
  allOf: [ref('inhabitedSet'), { items: ref(name) }],
  description,
});
const onlyTrue = (what: string, instead: string): Schema => ({
  type: 'boolean',
  enum: [true],
  description: `Dial the ${what} that the client asked for; takes the place of '${instead}'.`,
});

function closed(properties: Schema, required: readonly string[] = []): Schema {
  return { type: 'object', additionalProperties: false, properties, ...(required.length > 0 && { required }) };
}

/** Either fixed by `key`, or forwarded, and then limited by a list. */
function fixedOrForwarded(key: string, forward: string, allowed: string): Schema {
  return {
    if: { properties: { [forward]: { const: true } }, required: [forward] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { required: [allowed] },
    else: { required: [key] },
  };
}

const translation = (format: 'ipv4' | 'ipv6', longest: number): Schema =>
  closed({
    from: { type: 'string', format },
    to: { type: 'string', format },
    prefixLength: { type: 'integer', minimum: 0, maximum: longest },
  });
const address: Schema = { type: 'string', format: 'idn-hostname', not: { pattern: '^$' } };

const DEFINITIONS: Schema = {
  action: closed(
    {
      trigger: { type: 'string', enum: ['fail', 'pass', 'change'] },
      consecutiveEvents: { type: 'integer', minimum: 0, maximum: 65_535 },
      duration: ref('duration'),
      action: {
        type: 'string',
        pattern: '(mark (un)?healthy|increase cost [0-9]+|decrease cost [0-9]+|send event)',
      },
    },
    ['trigger', 'action'],
  ),
  actionList: { type: 'array', minItems: 1, maxItems: 20, items: ref('action') },
  addressTranslation: { oneOf: [ref('ipv4AddressTranslation'), ref('ipv6AddressTranslation')] },
  dialAddress: address,
  duration: { type: 'string', pattern: '[0-9]+(h|m|s|ms)' },
  httpCheck: closed(
    {
      interval: ref('duration'),
      timeout: ref('duration'),
      url: { type: 'string' },
      method: ref('method'),
      body: { type: 'string' },
      expectStatus: { type: 'integer', minimum: 100, maximum: 599 },
      expectInBody: { type: 'string' },
      actions: ref('actionList'),
    },
    ['interval', 'timeout', 'url'],
  ),
  httpCheckList: { type: 'array', items: ref('httpCheck') },
  inhabitedSet: { type: 'array', minItems: 1, uniqueItems: true },
  ipv4AddressTranslation: translation('ipv4', 32),
  ipv6AddressTranslation: translation('ipv6', 128),
  listenAddress: described(address, 'A host name, with or without wildcard, an IP address, or a CIDR.'),
  method: { type: 'string', enum: ['GET', 'POST', 'PUT', 'PATCH'] },
  portCheck: closed(
    {
      interval: ref('duration'),
      timeout: ref('duration'),
      address: { type: 'string' },
      actions: ref('actionList'),
    },
    ['interval', 'timeout', 'address'],
  ),
  portCheckList: { type: 'array', items: ref('portCheck') },
  portNumber: { type: 'integer', minimum: 0, maximum: 65_535 },
  portRange: closed({ low: ref('portNumber'), high: ref('portNumber') }, ['low', 'high']),
  protocolName: { type: 'string', enum: ['tcp', 'udp'] },
  proxyConfiguration: {
    type: 'object',
    properties: {
      type: described(ref('proxyType'), 'How the proxy is spoken to.'),
      address: { type: 'string', description: 'Where the proxy is: host:port.' },
    },
    required: ['type', 'address'],
  },
  proxyType: { type: 'string', enum: ['http'], description: 'Proxies that can be used.' },
  timeoutSeconds: { type: 'integer', minimum: 0, maximum: 2_147_483_647 },
};

const LISTEN_OPTIONS = closed({
  bindUsingEdgeIdentity: {
    type: 'boolean',
    description:
      "Name the terminator after the identity of the hosting tunneler: the same as '$tunneler_id.name' for 'identity'.",
  },
  connectTimeout: described(
    ref('duration'),
    "How long a dial may take (default '5s'). Wins over 'connectTimeoutSeconds'.",
  ),
  connectTimeoutSeconds: {
    ...ref('timeoutSeconds'),
    deprecated: true,
    description: "How long a dial may take, in seconds. Use 'connectTimeout'.",
  },
  cost: { type: 'integer', minimum: 0, maximum: 65_535, description: 'Of the terminator (default 0).' },
  identity: {
    type: 'string',
    description:
      "Name of the terminator, for clients that dial one of several. '$tunneler_id.name' and '$tunneler_id.tag[NAME]' are replaced.",
  },
  maxConnections: { type: 'integer', minimum: 1, description: 'Terminators on different routers (default 3).' },
  precedence: {
    type: 'string',
    enum: ['default', 'required', 'failed'],
    description: "Of the terminator (default 'default').",
  },
});

const PROPERTIES: Schema = {
  protocol: described(ref('protocolName'), 'Dial with this protocol.'),
  forwardProtocol: onlyTrue('protocol', 'protocol'),
  allowedProtocols: setOf('protocolName', 'With forwardProtocol: protocols that may be dialed.'),
  address: described(ref('dialAddress'), 'Dial this IP address or host name.'),
  forwardAddress: onlyTrue('address', 'address'),
  allowedAddresses: setOf('listenAddress', 'With forwardAddress: addresses that may be dialed.'),
  forwardAddressTranslations: setOf('addressTranslation', 'With forwardAddress: addresses that are dialed as others.'),
  port: described(ref('portNumber'), 'Dial this port.'),
  forwardPort: onlyTrue('port', 'port'),
  allowedPortRanges: setOf('portRange', 'With forwardPort: ports that may be dialed.'),
  allowedSourceAddresses: setOf(
    'listenAddress',
    'Addresses that the tunneler may dial from; it makes routes for them.',
  ),
  listenOptions: LISTEN_OPTIONS,
  proxy: described(ref('proxyConfiguration'), 'Dial over this proxy.'),
  portChecks: ref('portCheckList'),
  httpChecks: ref('httpCheckList'),
};

/** `id` names the schema. */
export function hostSchema(id: string): Schema {
  return {
    $id: id,
    definitions: DEFINITIONS,
    ...closed(PROPERTIES),
    allOf: [
      fixedOrForwarded('protocol', 'forwardProtocol', 'allowedProtocols'),
      fixedOrForwarded('address', 'forwardAddress', 'allowedAddresses'),
      fixedOrForwarded('port', 'forwardPort', 'allowedPortRanges'),
    ],
  };
}

/** host.v2: several of them. */
export function hostsSchema(id: string): Schema {
  return {
    $id: id,
    definitions: {
      ...DEFINITIONS,
      terminator: {
        ...closed(PROPERTIES),
        allOf: [
          fixedOrForwarded('protocol', 'forwardProtocol', 'allowedProtocols'),
          fixedOrForwarded('address', 'forwardAddress', 'allowedAddresses'),
          fixedOrForwarded('port', 'forwardPort', 'allowedPortRanges'),
        ],
      },
    },
    ...closed({ terminators: { type: 'array', minItems: 1, items: ref('terminator') } }, ['terminators']),
  };
}
