// Functions of the lab for connections: TCP proxies, and the control channels of routers.

import type { LabGroup } from './function.ts';

export const CONNECTIONS: LabGroup = {
  section: 'Connections',
  functions: [
    {
      id: 'listProxies',
      route: 'GET /proxies',
      access: 'admin.read',
      answer: 'labProxies',
      rejections: [401, 429],
      call: 'proxies.list()',
      commands: [
        {
          name: 'proxy list',
          text: 'list the proxies, those in front of routers too',
          examples: ['proxy list --ready sim.json'],
        },
      ],
    },
    {
      id: 'createProxy',
      route: 'POST /proxies',
      access: 'admin',
      body: 'proxyCreate',
      answer: 'labProxy',
      status: 201,
      rejections: [400, 401, 429],
      methods: { 'proxies.open': 'proxy open' },
      commands: [
        {
          name: 'proxy open',
          text: 'open a proxy, and print where it listens',
          arguments: { name: '1 to 100 letters, digits, dots, colons, hyphens and underscores' },
          options: { to: { required: 'HOST:PORT' } },
          hasFields: true,
          examples: ['proxy open db --to 127.0.0.1:5432 --ready sim.json'],
        },
      ],
    },
    {
      id: 'deleteProxy',
      route: 'DELETE /proxies/{name}',
      access: 'admin',
      rejections: [400, 401, 404, 429],
      call: 'proxies.remove(name)',
      commands: [
        {
          name: 'proxy close',
          text: 'close a proxy and reset its connections',
          arguments: { name: 'its name, as `proxy list` prints it' },
          examples: ['proxy close db --ready sim.json'],
          prints: 'closed {name}',
        },
      ],
    },
    {
      id: 'disconnectRouter',
      route: 'POST /routers/{id}/disconnect',
      access: 'admin',
      rejections: [401, 404, 429],
      call: 'faults.disconnect(id)',
      commands: [
        {
          name: 'fault disconnect',
          text: 'close the control channel of a router, which connects again',
          arguments: { 'id:router': 'its id or name' },
          examples: ['fault disconnect ROUTER --ready sim.json'],
          prints: 'disconnected {id}',
        },
      ],
    },
  ],
  commandGroups: {
    proxy: {
      text: 'TCP proxies of a running simulator, whose connections faults slow down, stall and cut',
      order: ['open'],
      examples: [
        'proxy open db --to 127.0.0.1:5432 --ready sim.json',
        'fault add --kind proxy --proxy db --latency 200ms --ready sim.json',
      ],
    },
  },
  bodies: {
    proxyCreate: {
      type: 'object',
      required: ['name', 'to'],
      properties: {
        name: { type: 'string', description: '1 to 100 letters, digits, dots, colons, hyphens and underscores.' },
        to: { type: 'string', description: 'The host:port to which its connections lead.' },
        port: { type: 'integer', description: 'Where it listens; default: a free port.' },
      },
    },
  },
  answers: {
    labProxies: { type: 'array', items: { $ref: '#/$defs/labProxy' } },
    labProxy: {
      type: 'object',
      required: ['name', 'host', 'port', 'to', 'connections'],
      properties: {
        name: { type: 'string' },
        host: { type: 'string' },
        port: { type: 'integer', description: 'Where it listens.' },
        to: {
          type: 'string',
          description: 'The host:port to which its connections lead; empty until the router has told its address.',
        },
        connections: { type: 'integer', description: 'Open connections.' },
      },
    },
  },
};
