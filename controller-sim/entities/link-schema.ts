// The schema of router.link.v1: a router's link listeners and dialers (reference fact: HTTP entities, section 7).

import { closed, described, integer, listOf, oneOf, ref, type Schema, string } from './schema-parts.ts';

const binding: Schema = { type: 'string', minLength: 1, default: 'transport' };

const LISTENER = closed(
  {
    bind: {
      type: 'string',
      minLength: 1,
      description: 'Address on which the router listens, such as tls:0.0.0.0:6262.',
    },
    binding,
    advertise: string,
    bindInterface: string,
    groups: ref('groups'),
    options: ref('channelOptions'),
  },
  ['bind'],
);

const DIALER = closed({
  binding,
  bindInterface: described(string, 'Name of the interface, as listeners call it.'),
  groups: ref('groups'),
  healthyDialBackoff: ref('backoff'),
  unhealthyDialBackoff: ref('backoff'),
  maxDefaultConnections: integer(1, 100),
  maxAckConnections: integer(0, 100),
  startupDelay: ref('duration'),
  options: ref('channelOptions'),
});

export const LINK_SCHEMA: Schema = {
  $id: 'https://netfoundry.io/schemas/router.link.v1.config.json',
  definitions: {
    backoff: closed({
      minRetryInterval: ref('duration'),
      maxRetryInterval: ref('duration'),
      retryBackoffFactor: { type: 'number', minimum: 1, maximum: 100 },
    }),
    channelOptions: closed({
      connectTimeout: ref('duration'),
      writeTimeout: ref('duration'),
      maxOutstandingConnects: integer(1, 1_000),
      maxQueuedConnects: integer(0, 5_000),
      outQueueSize: integer(0),
    }),
    dialer: DIALER,
    duration: { type: 'string', pattern: '^([0-9]+(\\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$' },
    groups: { oneOf: [string, listOf(string)] },
    heartbeats: closed({
      sendInterval: ref('duration'),
      checkInterval: ref('duration'),
      closeUnresponsiveTimeout: ref('duration'),
    }),
    listener: LISTENER,
  },
  ...closed({
    listeners: listOf(ref('listener')),
    dialers: listOf(ref('dialer')),
    heartbeats: ref('heartbeats'),
    gcMode: {
      ...oneOf('preserve', 'orphaned', 'changed'),
      default: 'preserve',
      description:
        "Links that a router closes after a change of its configuration: 'preserve' none, 'orphaned' those whose listener or dialer was removed, 'changed' also those whose listener or dialer was changed.",
    },
    payloadSenderQueueSize: integer(1),
    ackSenderQueueSize: integer(1),
  }),
};
