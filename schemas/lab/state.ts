// Functions of the lab for the state of the simulator.

import type { LabGroup, LabOption } from './function.ts';

const KEEP: LabOption = { flags: '--keep <part...>', text: 'parts that stay as they are', default: [] };

export const STATE: LabGroup = {
  section: 'State',
  functions: [
    {
      id: 'listSnapshots',
      route: 'GET /snapshots',
      access: 'admin.read',
      answer: 'labSnapshots',
      rejections: [401, 429],
      call: 'sharedSnapshots.list()',
      methods: { 'snapshots.list': 'snapshot' },
    },
    {
      id: 'createSnapshot',
      route: 'POST /snapshots',
      access: 'admin',
      body: 'snapshotCreate',
      answer: 'labSnapshot',
      status: 201,
      rejections: [400, 401, 429, 503],
      call: 'sharedSnapshots.take(name)',
      methods: { 'snapshots.take': 'snapshot' },
    },
    {
      id: 'deleteSnapshot',
      route: 'DELETE /snapshots/{name}',
      access: 'admin',
      rejections: [400, 401, 404, 429, 503],
      call: 'sharedSnapshots.delete(name)',
      methods: { 'snapshots.delete': 'snapshot --delete' },
    },
    {
      id: 'loadSnapshot',
      route: 'POST /snapshots/load',
      access: 'admin',
      body: 'snapshotLoad',
      answer: 'labSnapshot',
      status: 201,
      rejections: [400, 401, 429],
      call: 'sharedSnapshots.load(name, file, options)',
      methods: { 'snapshots.load': 'snapshot --load' },
    },
    {
      id: 'saveSnapshot',
      route: 'GET /snapshots/{name}/file',
      access: 'admin',
      query: { credentials: 'boolean' },
      answer: 'labSnapshotFile',
      rejections: [400, 401, 404, 429],
      call: 'sharedSnapshots.save(name, options)',
      methods: { 'snapshots.save': 'snapshot --save' },
    },
    {
      id: 'restoreSnapshot',
      route: 'POST /snapshots/{name}/restore',
      access: 'admin',
      body: 'labRestore?',
      answer: 'labRestored',
      rejections: [400, 401, 404, 429, 503],
      call: 'restore(name, options)',
      methods: { restore: 'restore', 'snapshots.restore': 'restore' },
      commands: [
        {
          name: 'restore',
          text: 'return a running simulator to a kept state: its entities, clock and faults; the journal is empty then',
          arguments: { name: 'the name of the snapshot' },
          options: { keep: KEEP },
          examples: ['restore base --ready sim.json', 'restore base --keep clock journal'],
          prints: 'restored {name}: {created} created, {changed} changed, {deleted} deleted',
        },
      ],
    },
    { id: 'detailReady', route: 'GET /ready', access: 'none', answer: 'labReady', rejections: [] },
    {
      id: 'reset',
      route: 'POST /reset',
      access: 'admin',
      body: 'labRestore?',
      answer: 'labRestored',
      rejections: [400, 401, 429, 503],
      call: 'reset(options)',
      commands: [
        {
          name: 'reset',
          text: 'return a running simulator to its state, clock and faults after its start; the journal is empty then',
          options: { keep: KEEP },
          examples: ['reset --ready sim.json'],
          prints: 'reset: {created} created, {changed} changed, {deleted} deleted',
        },
      ],
    },
  ],
  bodies: {
    snapshotCreate: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } },
    snapshotLoad: {
      type: 'object',
      required: ['name', 'file'],
      properties: {
        name: { type: 'string', description: 'The name of the snapshot; an earlier one with this name is replaced.' },
        file: { type: 'object', description: 'The content of the file.' },
        credentials: {
          type: 'boolean',
          description: 'Take credentials from the file, and identities that become administrators; default false.',
        },
      },
    },
    labRestore: {
      type: 'object',
      properties: {
        keep: {
          type: 'array',
          description: 'Parts that stay as they are.',
          items: { type: 'string', enum: ['state', 'clock', 'faults', 'journal'] },
        },
      },
    },
  },
  answers: {
    labSnapshots: { type: 'array', items: { $ref: '#/$defs/labSnapshot' } },
    labSnapshot: {
      type: 'object',
      required: ['name', 'takenAt', 'index', 'entities', 'controllerId'],
      properties: {
        name: { type: 'string' },
        takenAt: { type: 'string', format: 'date-time' },
        index: { type: 'integer' },
        entities: { type: 'integer' },
        controllerId: { type: 'string', description: 'The controller that keeps it in memory.' },
      },
    },
    labSnapshotFile: {
      type: 'object',
      required: ['format', 'name', 'takenAt', 'credentials', 'clock', 'entities'],
      properties: {
        format: { type: 'string', enum: ['edgeweave-snapshot/1'] },
        name: { type: 'string' },
        takenAt: { type: 'string' },
        credentials: {
          type: 'boolean',
          description: 'Whether it has passwords, certificates, second factors and one-time tokens.',
        },
        clock: {
          type: 'object',
          required: ['rate', 'advanced', 'now'],
          properties: {
            rate: { type: 'number' },
            advanced: { type: 'number', description: 'Milliseconds that were added to the real time.' },
            now: { type: 'number', description: 'Milliseconds since the epoch.' },
          },
        },
        entities: { type: 'object', description: 'By kind.' },
      },
    },
    labRestored: {
      type: 'object',
      required: ['created', 'changed', 'deleted'],
      properties: { created: { type: 'integer' }, changed: { type: 'integer' }, deleted: { type: 'integer' } },
    },
    labReady: {
      type: 'object',
      required: ['event', 'management', 'client', 'ctrl', 'controllerId', 'ca', 'version'],
      properties: {
        event: { type: 'string', enum: ['ready'] },
        management: { type: 'string', description: 'Base address of the management API, as in the ready line.' },
        client: { type: 'string', description: 'Base address of the client API.' },
        ctrl: { type: 'string', description: 'Address for routers.' },
        controllerId: { type: 'string' },
        ca: { type: 'string', description: "The authorities of the network's certificates, as PEM." },
        version: { type: 'string', description: 'Version of the simulator.' },
      },
    },
  },
};
