// Functions of the lab for faults of requests, messages, connections and the store.

import type { LabGroup } from './function.ts';

/** A request gets it instead of its answer, or before it. */
const ANSWER = {
  status: { type: 'integer', description: '200 to 599: the answer in place of the operation.' },
  code: { type: 'string', description: 'An error code of the APIs, such as NOT_FOUND.' },
  body: { description: 'The body of the answer: a text as it is, anything else as JSON.' },
  headers: {
    type: 'object',
    description: 'Headers of the answer, such as Retry-After.',
    additionalProperties: { type: 'string' },
  },
  close: { type: 'boolean', description: 'The connection closes without an answer.' },
  truncate: { type: 'boolean', description: 'The connection closes after half of the answer.' },
  delay: {
    type: 'string',
    description: 'A duration, such as 500ms, before the request, the message or the change is handled.',
  },
};

const FAULT = {
  kind: {
    type: 'string',
    enum: ['http', 'control', 'link', 'sdk', 'proxy', 'store'],
    description:
      'Requests to the APIs, messages of control channels, links, SDK connections, connections of a proxy, changes in the store.',
  },
  method: { type: 'string', description: 'The method of the request.' },
  path: { type: 'string', description: 'The beginning of the path; with * for any characters, the whole path.' },
  operation: { type: 'string', description: 'The id of an operation, such as listServices.' },
  identity: { type: 'string', description: 'Id or name of the caller.' },
  ...ANSWER,
  answers: {
    type: 'array',
    description: 'One answer for each request, in this order; afterwards requests are handled as usual.',
    items: { type: 'object', properties: ANSWER },
  },
  router: { type: 'string', description: 'Id or name of the router: of control channels, links or SDK connections.' },
  peer: { type: 'string', description: 'Name of the router at the other end of the link.' },
  proxy: { type: 'string', description: 'Name of a proxy.' },
  message: { type: 'string', description: 'The name of a content type, such as Route.' },
  direction: {
    type: 'string',
    enum: ['in', 'out', 'up', 'down'],
    description: 'Messages from the router (in) or to it (out); bytes from the side that dialed (up) or to it (down).',
  },
  drop: { type: 'boolean', description: 'The message is lost.' },
  duplicate: { type: 'boolean', description: 'The message arrives twice.' },
  reorder: { type: 'boolean', description: 'The message arrives after the next one.' },
  reject: { type: 'boolean', description: 'New control channels are rejected.' },
  latency: { type: 'string', description: 'A duration that bytes travel longer.' },
  jitter: { type: 'string', description: 'A duration that is added to the latency or taken from it, at random.' },
  bandwidth: { type: 'integer', description: 'Bytes per second.' },
  slice: { type: 'integer', description: 'Bytes of the pieces in which everything is written.' },
  sliceDelay: { type: 'string', description: 'The duration between two pieces; default 10ms.' },
  limit: { type: 'integer', description: 'The connection is closed after so many bytes.' },
  closeDelay: { type: 'string', description: 'A duration by which the end of a direction arrives later.' },
  stall: { type: 'boolean', description: 'Bytes wait until the fault ends.' },
  halfOpen: { type: 'boolean', description: 'The far side is gone, and the near one does not learn of it.' },
  cut: { type: 'boolean', description: 'Connections are reset, new ones too.' },
  fail: { type: 'boolean', description: 'The store rejects changes.' },
  full: { type: 'boolean', description: 'The store rejects changes, as with a full disk.' },
  times: {
    type: 'integer',
    description: 'How many requests, messages, connections or changes it affects; default: all.',
  },
  probability: { type: 'number', description: '0 to 1: the share of the matching ones that it affects; default 1.' },
  lasts: { type: 'string', description: 'A duration, after which it affects nothing.' },
  scope: {
    type: 'string',
    description: 'A name that several faults share, such as that of a test; they can be removed together.',
  },
};

export const FAULTS: LabGroup = {
  section: 'Faults',
  functions: [
    {
      id: 'clearFaults',
      route: 'DELETE /faults',
      access: 'admin',
      query: { scope: 'string' },
      rejections: [401, 429],
      call: 'faults.clear(options)',
      commands: [
        {
          name: 'fault clear',
          text: 'remove all faults',
          options: { scope: { flags: '--scope <name>', text: 'only those of this scope' } },
          examples: ['fault clear --ready sim.json', 'fault clear --scope login --ready sim.json'],
        },
      ],
    },
    {
      id: 'listFaults',
      route: 'GET /faults',
      access: 'admin.read',
      answer: 'labFaults',
      rejections: [401, 429],
      methods: { 'faults.list': 'fault list' },
      commands: [
        {
          name: 'fault list',
          text: 'list the faults, the oldest first, with the number of their hits',
          examples: ['fault list --ready sim.json'],
        },
      ],
    },
    {
      id: 'createFault',
      route: 'POST /faults',
      access: 'admin',
      body: 'faultCreate',
      checksFields: true,
      answer: 'labFault',
      status: 201,
      rejections: [400, 401, 404, 429],
      methods: { 'faults.add': 'fault add' },
      commands: [
        {
          name: 'fault add',
          text: 'add a fault: for requests, control messages, links, SDK connections, a proxy, or the store',
          hasFields: true,
          examples: [
            'fault add --operation listServices --status 503 --times 2 --ready sim.json',
            'fault add --operation listServices --status 429 --headers \'{"Retry-After":"2"}\' --ready sim.json',
            'fault add --kind link --router a --peer b --latency 100ms --jitter 20ms --ready sim.json',
            'fault add --kind sdk --cut --lasts 5s --ready sim.json',
            'fault add --kind store --full --ready sim.json',
          ],
        },
      ],
    },
    {
      id: 'deleteFault',
      route: 'DELETE /faults/{id}',
      access: 'admin',
      rejections: [401, 404, 429],
      call: 'faults.remove(id)',
      commands: [
        {
          name: 'fault remove',
          text: 'remove a fault',
          arguments: { id: 'its id, as `fault list` prints it' },
          examples: ['fault remove f1 --ready sim.json'],
          prints: 'removed {id}',
        },
      ],
    },
  ],
  commandGroups: {
    fault: {
      text: 'let a running simulator fail on purpose',
      order: ['add', 'list', 'remove', 'clear', 'disconnect'],
      examples: [
        'fault add --operation listServices --status 503 --times 2 --ready sim.json',
        'fault add --path /edge/client/v1 --delay 2s --ready sim.json',
        'fault add --message Route --direction out --drop --ready sim.json',
        'fault disconnect ROUTER --ready sim.json',
      ],
    },
  },
  bodies: { faultCreate: { type: 'object', required: ['kind'], properties: FAULT } },
  answers: {
    labFaults: { type: 'array', items: { $ref: '#/$defs/labFault' } },
    labFault: {
      type: 'object',
      required: ['id', 'hits', 'kind'],
      properties: {
        id: { type: 'string' },
        hits: { type: 'integer', description: 'How many requests, messages, connections or changes it has affected.' },
        ...FAULT,
      },
    },
  },
};
