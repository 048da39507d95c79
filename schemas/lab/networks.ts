// Functions of the lab for the routers, services and identities of a network.

import type { LabGroup } from './function.ts';

export const NETWORKS: LabGroup = {
  section: 'Networks',
  functions: [
    {
      id: 'enrollIdentity',
      route: 'POST /identities/{name}/enroll',
      access: 'admin',
      body: 'labIdentityCreate?',
      answer: 'labIdentityFile',
      rejections: [400, 401, 429, 503],
      call: 'identity(name, options)',
      methods: { identity: 'identity' },
    },
    {
      id: 'createLabService',
      route: 'POST /services',
      access: 'admin',
      body: 'labServiceCreate',
      answer: 'labService',
      status: 201,
      rejections: [400, 401, 404, 429, 503],
      call: 'service(name, options)',
      methods: { service: 'service' },
    },
    {
      id: 'detailToken',
      route: 'GET /tokens/{name}',
      access: 'admin',
      answer: 'labToken',
      rejections: [400, 401, 404, 429],
      methods: { token: 'token' },
      commands: [
        {
          name: 'token',
          text: 'print the enrollment token of a router or an identity that has not enrolled yet',
          arguments: { name: 'name of an edge router, a transit router or an identity' },
          examples: ['token edge-1 --ready sim.json > edge-1.jwt'],
          prints: '{token}',
        },
      ],
    },
    {
      id: 'detailNetwork',
      route: 'GET /network',
      access: 'admin.read',
      answer: 'labTopology',
      rejections: [401, 429],
      call: 'network()',
      commands: [
        {
          name: 'cluster list',
          text: 'list the controllers: the index of the last change that each has, and why one does not follow',
          options: { json: { flags: '--json', text: 'print them as JSON', default: false } },
          examples: ['cluster list --ready sim.json'],
        },
      ],
    },
    {
      id: 'waitForNetwork',
      route: 'POST /network/wait',
      access: 'admin.read',
      body: 'networkWait?',
      rejections: [400, 401, 429, 503],
      call: 'ready(options)',
      commands: [
        {
          name: 'ready',
          text: 'wait until the routers of a running `network` are connected, linked and host their services',
          options: { timeout: { flags: '--timeout <duration>', text: 'for this time, at most 50s; default: 15s' } },
          examples: ['ready --timeout 30s --ready sim.json'],
          prints: 'ready',
        },
      ],
    },
  ],
  commandOrder: ['ready'],
  bodies: {
    labIdentityCreate: { type: 'object', properties: { roleAttributes: { $ref: '#/$defs/attributes' } } },
    labServiceCreate: {
      type: 'object',
      required: ['name', 'host', 'port'],
      properties: {
        name: { type: 'string' },
        host: { type: 'string', description: 'Name or id of the edge router that hosts the service.' },
        port: { type: 'integer', description: 'Port of the server, as the router reaches it.' },
        address: { type: 'string', description: 'Host of the server, as the router reaches it; default 127.0.0.1.' },
        encryptionRequired: { type: 'boolean', description: 'Default: true.' },
      },
    },
    networkWait: {
      type: 'object',
      properties: { timeout: { type: 'string', description: 'A duration, such as 30s; default 15s, at most 50s.' } },
    },
  },
  answers: {
    labIdentityFile: {
      type: 'object',
      required: ['ztAPI', 'ztAPIs', 'id'],
      properties: {
        ztAPI: { type: 'string', description: 'Address of the client API.' },
        ztAPIs: { type: 'array', items: { type: 'string' } },
        id: {
          type: 'object',
          required: ['cert', 'key', 'ca'],
          properties: { cert: { type: 'string' }, key: { type: 'string' }, ca: { type: 'string' } },
        },
      },
    },
    labService: {
      type: 'object',
      required: ['id', 'name', 'host'],
      properties: {
        id: { type: 'string' },
        name: { type: 'string' },
        host: { type: 'string', description: 'Name of the router that hosts it.' },
        dial: { $ref: '#/$defs/labDialPlace' },
      },
    },
    labDialPlace: {
      type: 'object',
      required: ['host', 'port'],
      properties: { host: { type: 'string' }, port: { type: 'integer' } },
    },
    labToken: { type: 'object', required: ['token'], properties: { token: { type: 'string' } } },
    labTopology: {
      type: 'object',
      required: ['controllers', 'routers', 'links', 'circuits', 'totals', 'entities', 'journal'],
      properties: {
        controllers: { type: 'array', items: { $ref: '#/$defs/labController' } },
        routers: {
          type: 'array',
          items: { $ref: '#/$defs/labRouter' },
          description: 'Online ones first; at most 1,000.',
        },
        links: { type: 'array', items: { $ref: '#/$defs/labLink' }, description: 'At most 5,000.' },
        circuits: {
          type: 'array',
          items: { $ref: '#/$defs/labCircuit' },
          description: 'The newest first; at most 500.',
        },
        totals: {
          type: 'object',
          required: ['routers', 'online', 'links', 'circuits'],
          properties: {
            routers: { type: 'integer' },
            online: { type: 'integer' },
            links: { type: 'integer' },
            circuits: { type: 'integer' },
          },
        },
        entities: { type: 'object', additionalProperties: { type: 'integer' }, description: 'How many, by kind.' },
        journal: {
          type: 'object',
          required: ['entries', 'last'],
          properties: {
            entries: { type: 'integer' },
            last: { type: 'integer', description: 'Sequence number of the latest entry.' },
            links: {
              type: 'boolean',
              description: 'Whether it records the messages of links; missing without routers in the process.',
            },
          },
        },
      },
    },
    labController: {
      type: 'object',
      required: ['id', 'url', 'controlAddress', 'connected', 'leader', 'startedAt', 'index', 'behind'],
      properties: {
        id: { type: 'string' },
        url: { type: 'string' },
        controlAddress: { type: 'string' },
        connected: { type: 'boolean' },
        leader: { type: 'boolean' },
        startedAt: { type: 'string', format: 'date-time', description: 'Its last start.' },
        index: { type: 'integer', description: 'Index of the last change that it has.' },
        behind: { type: 'integer', description: 'How many changes it lacks.' },
        problem: { type: 'string', description: 'Why it does not follow the changes of others; missing if it does.' },
      },
    },
    labRouter: {
      type: 'object',
      required: ['id', 'name', 'online', 'type', 'disabled', 'cost', 'identities'],
      properties: {
        id: { type: 'string' },
        name: { type: 'string' },
        online: { type: 'boolean' },
        type: { type: 'string', enum: ['edge', 'transit'] },
        disabled: { type: 'boolean' },
        cost: { type: 'integer' },
        version: { type: 'string', description: 'Missing while it is offline.' },
        identities: { type: 'integer', description: 'How many identities are connected to it.' },
      },
    },
    labLink: {
      type: 'object',
      required: ['id', 'source', 'destination', 'state', 'cost'],
      properties: {
        id: { type: 'string' },
        source: { type: 'string', description: 'Id of the dialing router.' },
        destination: { type: 'string' },
        state: {
          type: 'string',
          enum: ['up', 'disabled', 'disconnected'],
          description: 'disabled by an administrator; disconnected: one of its routers is offline.',
        },
        cost: { type: 'integer' },
        latency: {
          type: 'number',
          description: 'Milliseconds, the mean of both ends; missing until both have measured it.',
        },
      },
    },
    labCircuit: {
      type: 'object',
      required: ['id', 'service', 'client', 'path', 'age'],
      properties: {
        id: { type: 'string' },
        service: { type: 'string', description: 'Name; the id if it no longer exists.' },
        client: { type: 'string', description: 'Name of the dialing identity; the id if it no longer exists.' },
        path: { type: 'array', items: { type: 'string' }, description: 'Ids of routers, from the client to the host.' },
        age: { type: 'integer', description: 'Milliseconds.' },
        rate: {
          type: 'integer',
          description:
            'Bytes per second in both directions: since the last reading if the router of the client runs beside the simulator, else from its latest usage report (metrics.reportInterval); missing until it is known.',
        },
      },
    },
  },
};
