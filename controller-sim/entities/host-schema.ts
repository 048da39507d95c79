// The schema of host.v1: how a tunneler dials the server behind a service (reference fact: HTTP entities, section 7).
// Consoles build forms from it, so each key has a description.

import {
  ADDRESS_DEFINITIONS,
  closed,
  described,
  HEALTH_DEFINITIONS,
  integer,
  listOf,
  oneOf,
  ref,
  type Schema,
  setOf,
  string,
} from './schema-parts.ts';

const DEFINITIONS: Schema = { ...ADDRESS_DEFINITIONS, ...HEALTH_DEFINITIONS };

const onlyTrue = (what: string, instead: string): Schema => ({
  type: 'boolean',
  enum: [true],
  description: `Dial the ${what} that the client requested. Replaces '${instead}'.`,
});

/** Either a fixed `key`, or forwarded from the client and restricted by a list. */
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
      "Name the terminator after the identity of the hosting tunneler. Equivalent to '$tunneler_id.name' for 'identity'.",
  },
  connectTimeout: described(ref('duration'), "Time limit of a dial (default '5s'). Overrides 'connectTimeoutSeconds'."),
  connectTimeoutSeconds: {
    ...ref('timeoutSeconds'),
    deprecated: true,
    description: "Time limit of a dial, in seconds. Prefer 'connectTimeout'.",
  },
  cost: described(integer(0, 65_535), 'Cost of the terminator (default 0).'),
  identity: described(
    string,
    "Name of the terminator, for clients that dial a specific one. '$tunneler_id.name' and '$tunneler_id.tag[NAME]' are replaced.",
  ),
  maxConnections: described(integer(1), 'Number of terminators, each on another router (default 3).'),
  precedence: described(oneOf('default', 'required', 'failed'), "Precedence of the terminator (default 'default')."),
});

const PROPERTIES: Schema = {
  protocol: described(ref('protocolName'), 'Dial with this protocol.'),
  forwardProtocol: onlyTrue('protocol', 'protocol'),
  allowedProtocols: setOf('protocolName', 'With forwardProtocol: permitted protocols.'),
  address: described(ref('dialAddress'), 'Dial this IP address or host name.'),
  forwardAddress: onlyTrue('address', 'address'),
  allowedAddresses: setOf('listenAddress', 'With forwardAddress: permitted addresses.'),
  forwardAddressTranslations: setOf('addressTranslation', 'With forwardAddress: replacements for addresses.'),
  port: described(ref('portNumber'), 'Dial this port.'),
  forwardPort: onlyTrue('port', 'port'),
  allowedPortRanges: setOf('portRange', 'With forwardPort: permitted ports.'),
  allowedSourceAddresses: setOf('listenAddress', 'Source addresses for dials. The tunneler adds routes for them.'),
  listenOptions: LISTEN_OPTIONS,
  proxy: described(ref('proxyConfiguration'), 'Dial through this proxy.'),
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

/** host.v2: a list of host.v1 terminators. */
export const HOSTS_SCHEMA: Schema = {
  $id: 'http://ziti-edge.netfoundry.io/schemas/host.v2.schema.json',
  definitions: {
    ...DEFINITIONS,
    terminator: { ...closed(PROPERTIES), allOf: CHOICES },
    terminatorList: { ...listOf(ref('terminator')), minItems: 1 },
  },
  ...closed({ terminators: ref('terminatorList') }, ['terminators']),
};
