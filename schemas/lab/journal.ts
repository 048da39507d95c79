// Functions of the lab for the journal of requests and messages.

import type { LabGroup, LabOption } from './function.ts';

const FILTER = {
  kind: { type: 'string', enum: ['http', 'control', 'link'] },
  identity: { type: 'string', description: 'Id or name of the caller.' },
  router: { type: 'string', description: 'Id or name.' },
  message: { type: 'string', description: 'The name of the content type of a message, such as Route.' },
  path: { type: 'string', description: 'The beginning of the path; with * for any characters, the whole path.' },
  operation: { type: 'string', description: 'Such as listServices.' },
  method: { type: 'string' },
  status: { type: 'integer' },
  fault: { type: 'string', description: 'The id of the fault that was applied.' },
  failed: {
    type: 'boolean',
    description: 'Only requests with a status of at least 400 or without an answer, and rejected routers.',
  },
  after: { type: 'integer', description: 'Only later entries than the one with this number.' },
};

/** Options of the commands that select entries. */
export const FILTER_OPTIONS: Readonly<Record<string, LabOption>> = {
  failed: {
    flags: '--failed',
    text: 'only requests with a status of at least 400 or without an answer, and rejected routers',
  },
  kind: { flags: '--kind <kind>', text: 'only requests to the APIs, only control channels, or only links' },
  identity: { flags: '--identity <name>', text: 'only requests of this identity (id or name)' },
  router: { flags: '--router <name>', text: 'only the control channel and the links of this router (id or name)' },
  message: { flags: '--message <type>', text: 'only messages of this type, such as Route' },
  path: {
    flags: '--path <prefix>',
    text: 'only requests whose path begins with this; with * for any characters, the whole path',
  },
  operation: { flags: '--operation <id>', text: 'only requests for this operation, such as listServices' },
  method: { flags: '--method <method>', text: 'only requests with this method, such as GET' },
  status: { flags: '--status <status>', text: 'only answers with this status' },
  fault: { flags: '--fault <id>', text: 'only entries to which this fault was applied' },
};
const WHOLE_NUMBER = 'Use a whole number.';

export const JOURNAL: LabGroup = {
  section: 'Journal',
  functions: [
    {
      id: 'clearJournal',
      route: 'DELETE /journal',
      access: 'admin',
      rejections: [401, 429],
      call: 'journal.clear()',
      methods: { 'journal.clear': 'journal --clear' },
    },
    {
      id: 'patchJournal',
      route: 'PATCH /journal',
      access: 'admin',
      body: 'journalPatch',
      answer: 'labJournalState',
      rejections: [400, 401, 429],
      methods: { recordLinks: 'journal --links', recordsLinks: '-' },
    },
    {
      id: 'listJournal',
      route: 'GET /journal',
      access: 'admin.read',
      query: {
        limit: 'integer',
        after: 'integer',
        kind: 'string',
        identity: 'string',
        router: 'string',
        message: 'string',
        path: 'string',
        operation: 'string',
        method: 'string',
        status: 'integer',
        fault: 'string',
        failed: 'boolean',
      },
      answer: 'labJournal',
      rejections: [400, 401, 429],
      methods: { 'journal.entries': 'journal', 'journal.last': '-' },
    },
    {
      id: 'recordJournal',
      route: 'GET /journal/recording',
      access: 'admin.read',
      query: {
        after: 'integer',
        identity: 'string',
        path: 'string',
        operation: 'string',
        method: 'string',
        status: 'integer',
        fault: 'string',
        failed: 'boolean',
      },
      answer: 'labRecording',
      rejections: [400, 401, 429],
      call: 'journal.recording(options)',
      methods: { 'journal.recording': 'journal --recording' },
    },
    {
      id: 'waitForEntry',
      route: 'POST /journal/wait',
      access: 'admin.read',
      body: 'journalWait',
      checksFields: true,
      answer: 'labWaited',
      rejections: [400, 401, 429, 503],
      methods: { 'journal.waitFor': 'wait' },
      expects: { field: 'entry', look: 'findEntry' },
      commands: [
        {
          name: 'wait',
          text: 'wait until clients or routers have asked for something, and print the entry of the journal',
          options: {
            timeout: { flags: '--timeout <duration>', text: 'for this time, at most 50s; default: 10s' },
            after: {
              flags: '--after <number>',
              text: 'only for later entries than the one with this number',
              pattern: [/^\d{1,15}$/, WHOLE_NUMBER],
            },
            json: { flags: '--json', text: 'print it as a JSON object' },
            ...FILTER_OPTIONS,
          },
          examples: ['wait --operation createCurrentApiSession --timeout 5s --ready sim.json'],
        },
      ],
    },
    {
      id: 'verifyJournal',
      route: 'POST /journal/verify',
      access: 'admin.read',
      body: 'journalVerify',
      checksFields: true,
      answer: 'labVerified',
      rejections: [400, 401, 429, 503],
      methods: { 'journal.verify': 'verify' },
      expects: { field: 'verified', look: 'checkJournal' },
      commands: [
        {
          name: 'verify',
          text: 'check that clients or routers have asked for something, and name the nearest entries if not',
          options: {
            times: {
              flags: '--times <number>',
              text: 'the exact number of entries; default: at least one',
              pattern: [/^\d{1,5}$/, WHOLE_NUMBER],
            },
            within: { flags: '--within <duration>', text: 'wait for them for this time, for example 5s' },
            ...FILTER_OPTIONS,
          },
          examples: ['verify --operation listServices --identity anna --times 1 --within 5s'],
        },
      ],
    },
  ],
  methods: { 'journal.size': '-', 'journal.subscribe': 'journal --follow' },
  commandOrder: ['verify', 'wait'],
  bodies: {
    journalPatch: {
      type: 'object',
      required: ['links'],
      properties: {
        links: {
          type: 'boolean',
          description: 'Whether to record the messages of the links between routers in the process of the simulator.',
        },
      },
    },
    journalVerify: {
      type: 'object',
      properties: {
        ...FILTER,
        times: { type: 'integer', description: 'The exact number of entries; default: at least one.' },
        within: { type: 'string', description: 'A duration to wait for them, such as 5s.' },
      },
    },
    journalWait: {
      type: 'object',
      properties: {
        ...FILTER,
        timeout: { type: 'string', description: 'A duration, such as 5s; default 10s, at most 50s.' },
      },
    },
  },
  answers: {
    labJournalState: {
      type: 'object',
      required: ['links'],
      properties: { links: { type: 'boolean', description: 'Whether it records the messages of links.' } },
    },
    labJournal: { type: 'array', items: { $ref: '#/$defs/labJournalEntry' } },
    labJournalEntry: {
      type: 'object',
      required: ['kind', 'sequence', 'time'],
      properties: {
        kind: { type: 'string', enum: ['http', 'control', 'link'] },
        sequence: {
          type: 'integer',
          description: 'Increases by one with each entry; the parameter `after` excludes earlier ones.',
        },
        time: { type: 'string', format: 'date-time' },
        method: { type: 'string' },
        path: { type: 'string' },
        query: { type: 'string' },
        api: { type: 'string' },
        operation: { type: 'string' },
        status: { type: ['integer', 'null'], description: 'Null if the client got no answer.' },
        code: { type: 'string', description: 'The code of the error.' },
        reason: { type: 'string', description: 'Why a request or a router was rejected, or why a connection ended.' },
        duration: { type: 'number', description: 'Milliseconds until the answer.' },
        source: { type: 'string', description: 'The address of the client.' },
        identity: {
          type: 'object',
          required: ['id', 'name'],
          properties: { id: { type: 'string' }, name: { type: 'string' } },
        },
        bytes: { type: 'integer', description: 'Size of the answer, or of the body of a message.' },
        body: { type: 'string', description: 'JSON of the request without secrets, cut after 4,096 characters.' },
        headers: {
          type: 'object',
          additionalProperties: { type: 'string' },
          description: 'Headers of the request without secrets; most have only their names.',
        },
        answer: {
          type: 'string',
          description: 'JSON of a successful answer without secrets, if it has at most 4,096 bytes.',
        },
        answerHeaders: {
          type: 'object',
          additionalProperties: { type: 'string' },
          description: 'Headers of the answer without secrets.',
        },
        event: { type: 'string', enum: ['connected', 'disconnected', 'rejected', 'message'] },
        router: { type: 'object', properties: { id: { type: 'string' }, name: { type: 'string' } } },
        direction: { type: 'string', enum: ['in', 'out'] },
        peer: {
          type: 'object',
          properties: { id: { type: 'string' }, name: { type: 'string' } },
          description: 'The router at the other end of a link.',
        },
        link: { type: 'string', description: 'The id of the link of a message.' },
        message: { type: 'string', description: 'The name of the content type.' },
        content: {
          type: 'object',
          additionalProperties: true,
          description: 'The fields of a message of at most 8,192 bytes, without secrets; never the data of a payload.',
        },
        fault: { type: 'string', description: 'The id of the fault that was applied.' },
      },
    },
    labRecording: {
      type: 'object',
      required: ['requests', 'omitted', 'text'],
      properties: {
        requests: { type: 'integer', description: 'Requests in it.' },
        omitted: {
          type: 'integer',
          description: 'Requests that it lacks: without an answer, or larger than the journal keeps.',
        },
        text: { type: 'string', description: 'For a file that `sim replay` answers from.' },
      },
    },
    labWaited: {
      type: 'object',
      properties: {
        entry: { $ref: '#/$defs/labJournalEntry', description: 'Missing if none came in time.' },
        message: { type: 'string', description: 'Why it does not hold, with the nearest entries.' },
      },
    },
    labVerified: {
      type: 'object',
      required: ['verified', 'count'],
      properties: {
        verified: { type: 'boolean' },
        count: { type: 'integer', description: 'How many entries meet the filter.' },
        message: { type: 'string', description: 'Why it does not hold, with the nearest entries.' },
      },
    },
  },
};
