// Functions of the lab for networks as documents.

import type { LabGroup } from './function.ts';

export const SEEDS: LabGroup = {
  section: 'Networks',
  functions: [
    {
      id: 'seed',
      route: 'POST /seed',
      access: 'admin',
      query: { apply: 'boolean', prune: 'boolean', plan: 'boolean' },
      body: 'seed,application/yaml',
      hasDocument: true,
      answer: 'labSeeded',
      rejections: [400, 401, 429, 503],
      methods: { seed: 'seed' },
    },
    {
      id: 'whatIf',
      route: 'POST /what-if',
      access: 'admin.read',
      query: { prune: 'boolean' },
      body: 'seed,application/yaml',
      hasDocument: true,
      answer: 'labWhatIf',
      rejections: [400, 401, 429],
      methods: { whatIf: 'what-if' },
    },
    {
      id: 'exportNetwork',
      route: 'GET /export',
      access: 'admin.read',
      answer: 'labNetwork',
      rejections: [401, 429],
      call: 'export()',
      methods: { export: 'export' },
    },
  ],
  bodies: {
    seed: { type: 'object', description: 'A network as in schemas/sim/seed.schema.json.' },
  },
  answers: {
    labSeeded: {
      type: 'object',
      required: ['created', 'existing'],
      properties: {
        created: { type: 'object', additionalProperties: { type: 'integer' }, description: 'How many, by section.' },
        existing: { type: 'object', additionalProperties: { type: 'integer' }, description: 'How many, by section.' },
        different: {
          type: 'array',
          description: 'Without apply: the first 20 entities that exist with other values than the document.',
          items: {
            type: 'object',
            required: ['kind', 'name', 'fields'],
            properties: {
              kind: { type: 'string', description: 'Such as service policy.' },
              name: { type: 'string' },
              fields: { type: 'array', items: { type: 'string' } },
            },
          },
        },
        changed: {
          type: 'object',
          additionalProperties: { type: 'integer' },
          description: 'How many, by section; only with apply.',
        },
        deleted: {
          type: 'object',
          additionalProperties: { type: 'integer' },
          description: 'How many, by section; only with prune.',
        },
        steps: {
          type: 'array',
          description: 'The first 1,000 changes, in their order; only with plan.',
          items: {
            type: 'object',
            required: ['action', 'kind', 'name'],
            properties: {
              action: { type: 'string', enum: ['create', 'change', 'delete'] },
              kind: { type: 'string', description: 'Such as service policy.' },
              name: { type: 'string' },
              fields: { type: 'array', items: { type: 'string' }, description: 'The fields that change.' },
            },
          },
        },
      },
    },
    labWhatIf: {
      type: 'object',
      required: ['gained', 'lost', 'totals', 'seeded'],
      properties: {
        gained: { type: 'array', description: 'The first 1,000 new rights.', items: { $ref: '#/$defs/labRight' } },
        lost: { type: 'array', description: 'The first 1,000 lost rights.', items: { $ref: '#/$defs/labRight' } },
        totals: {
          type: 'object',
          required: ['gained', 'lost'],
          properties: { gained: { type: 'integer' }, lost: { type: 'integer' } },
        },
        seeded: { $ref: '#/$defs/labSeeded' },
      },
    },
    labRight: {
      type: 'object',
      required: ['identity', 'service', 'type'],
      properties: {
        identity: { type: 'string' },
        service: { type: 'string' },
        type: { type: 'string', enum: ['Dial', 'Bind'] },
      },
    },
    labNetwork: {
      type: 'object',
      description: 'A network as in schemas/sim/seed.schema.json.',
      additionalProperties: { type: 'array', items: { type: 'object' } },
    },
  },
};
