// The schema of host.v1: how a tunneler dials what a service stands for (reference fact: HTTP entities, section 7). Consoles make forms of
// it, so each key says what it does.

import {
  ADDRESS_DEFINITIONS,
  closed,
  described,
  HEALTH_DEFINITIONS,
  listOf,
  oneOf,
  ref,
  type Schema,
  setOf,
  text,
  whole,
} from './schema-parts.ts';

const DEFINITIONS: Schema = { ...ADDRESS_DEFINITIONS, ...HEALTH_DEFINITIONS };

const onlyTrue = (what: string, instead: string): Schema => ({
  type: 'boolean',
  enum: [true],
  description: `Dial the ${what} that the client asked for; takes the place of '${instead}'.`,
});

/** Either fixed by `key`, or forwarded, and then limited by a list. */
function fixedOrForwarded(key: string, forward: string, allowed: string): Schema {
  return {
    if: { properties: { [forward]: { const: true } }, required: [forward] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { required: [allowed] },
    else: { required: [key] },
  };
}

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
  cost: described(whole(0, 65_535), 'Of the terminator (default 0).'),
  identity: described(
    text,
    "Name of the terminator, for clients that dial one of several. '$tunneler_id.name' and '$tunneler_id.tag[NAME]' are replaced.",
  ),
  maxConnections: described(whole(1), 'Terminators on different routers (default 3).'),
  precedence: described(oneOf('default', 'required', 'failed'), "Of the terminator (default 'default')."),
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

const CHOICES: readonly Schema[] = [
  fixedOrForwarded('protocol', 'forwardProtocol', 'allowedProtocols'),
  fixedOrForwarded('address', 'forwardAddress', 'allowedAddresses'),
  fixedOrForwarded('port', 'forwardPort', 'allowedPortRanges'),
];

export const HOST_SCHEMA: Schema = {
  $id: 'http://ziti-edge.netfoundry.io/schemas/host.v1.schema.json',
  definitions: DEFINITIONS,
  ...closed(PROPERTIES),
  allOf: CHOICES,
};

/** host.v2: several of them. */
export const HOSTS_SCHEMA: Schema = {
  $id: 'http://ziti-edge.netfoundry.io/schemas/host.v2.schema.json',
  definitions: {
    ...DEFINITIONS,
    terminator: { ...closed(PROPERTIES), allOf: CHOICES },
    terminatorList: { ...listOf(ref('terminator')), minItems: 1 },
  },
  ...closed({ terminators: ref('terminatorList') }, ['terminators']),
};
