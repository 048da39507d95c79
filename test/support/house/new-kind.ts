// The files and lines that add a kind of entity, `label`, as the recipes in docs/architecture.md say: a name, and the
// services that it marks.

/** Path → content. */
export const DESCRIPTION: Readonly<Record<string, string>> = {
  'controller-sim/state/kinds/label.ts': `
import type { Named } from '../entity.ts';
import { name, texts } from '../fields.ts';
import { kind } from '../kind.ts';

export interface Label extends Named {
  readonly services: readonly string[];
}

export const label = kind<Label>()({
  plural: 'labels',
  store: 'labels',
  unique: ['name'],
  refers: [{ key: 'services', to: 'service', form: 'ids', repair: 'remove', onDelete: 'remove' }],
  fields: { name, services: texts },
  isConfigured: true,
});
`,
};

/** Path → line after which others are inserted, and those. */
export const LISTED: readonly (readonly [path: string, after: string, lines: string])[] = [
  [
    'controller-sim/state/kinds.ts',
    "import { identity } from './kinds/identity.ts';",
    "import { label } from './kinds/label.ts';",
  ],
  ['controller-sim/state/kinds.ts', '  service,', '  label,'],
];

const row = (method: string, path: string, id: string, query: string, body: string, answer: string, status: number) =>
  ['management', method, path, id, 'admin', query, body, answer, status, '400,401,404,409,429,503'].join('\t');

/** Rows of operations.tsv. */
export const OPERATIONS = [
  row('GET', '/labels', 'listLabels', 'filter,limit,offset', '-', 'labelDetail*', 200),
  row('POST', '/labels', 'createLabel', '-', 'labelCreate', 'createLocation', 201),
  row('GET', '/labels/{id}', 'detailLabel', '-', '-', 'labelDetail', 200),
  row('PUT', '/labels/{id}', 'updateLabel', '-', 'labelUpdate', '-', 200),
  row('PATCH', '/labels/{id}', 'patchLabel', '-', 'labelPatch', '-', 200),
  row('DELETE', '/labels/{id}', 'deleteLabel', '-', '-', '-', 200),
];

const texts = { type: 'array', items: { type: 'string' } };
const properties = { name: { type: 'string' }, services: texts, tags: { $ref: '#/$defs/tags' } };
const required = ['name'];

/** Types of bodies.json and answers.json. */
export const BODIES = {
  labelCreate: { type: 'object', required, properties },
  labelUpdate: { type: 'object', required, properties },
  labelPatch: { type: 'object', properties },
};
export const ANSWERS = {
  labelDetail: {
    allOf: [
      { $ref: '#/$defs/baseEntity' },
      {
        type: 'object',
        required: ['name', 'services'],
        properties: { name: { type: 'string' }, services: texts },
      },
    ],
  },
};

/** Path → content: the rules. \`FIELD\` is the name of the field in bodies. */
export const RULES_FILE: Readonly<Record<string, string>> = {
  'controller-sim/entities/label.ts': `
import type { LabelCreate, LabelPatch, LabelUpdate } from '#schemas/api/gen/bodies.ts';
import type { Label } from '../state/kinds/label.ts';
import type { Transaction } from '../state/transaction.ts';
import type { Body } from './body.ts';
import { existing, uniqueName } from './common.ts';
import { rulesOfFields } from './rules.ts';

export type LabelBody = LabelCreate | LabelUpdate | LabelPatch;

export const labelRules = rulesOfFields('label', fields);

function fields(transaction: Transaction, body: Body<LabelBody>, current: Label | undefined) {
  const services = body.given.FIELD ?? body.kept(current)?.services ?? [];
  for (const id of services) existing(transaction, 'service', id);
  return { name: uniqueName(transaction, 'label', body, current), services };
}
`,
};

/** Path → content: the operations. */
export const OPERATION_FILE: Readonly<Record<string, string>> = {
  'controller-sim/api/edge/labels.ts': `
import type { LabelDetail } from '#schemas/api/gen/answers.ts';
import { type LabelBody, labelRules } from '../../entities/label.ts';
import type { Handlers } from '../operations/context.ts';
import { field, fieldSet } from '../operations/list.ts';
import { base } from '../answers/references.ts';
import { create, detail, list, patch, type Resource, remove, update } from '../operations/resource.ts';

const labels: Resource<'label', LabelDetail, LabelBody, never> = {
  ...labelRules,
  symbols: { name: field('name'), services: fieldSet('services') },
  show: (label) => ({ ...base('label', label), name: label.name, services: label.services }),
};

export const labelHandlers = {
  listLabels: list(labels),
  createLabel: create(labels),
  detailLabel: detail(labels),
  updateLabel: update(labels),
  patchLabel: patch(labels),
  deleteLabel: remove(labels),
} satisfies Partial<Handlers<'management'>>;
`,
};

export const HANDLERS: typeof LISTED = [
  [
    'controller-sim/api/edge/handlers.ts',
    "import { identityHandlers } from './identities.ts';",
    "import { labelHandlers } from './labels.ts';",
  ],
  ['controller-sim/api/edge/handlers.ts', '  ...identityHandlers,', '  ...labelHandlers,'],
];

/** The form in seeds and exports, in the schema of seeds. */
export const SEED_FORM = {
  type: 'object',
  required: ['name'],
  additionalProperties: false,
  properties: { name: { type: 'string' }, services: { type: 'array', items: { type: 'string', pattern: '^@' } } },
};
export const SEEDED: typeof LISTED = [
  [
    'controller-sim/lab/seed/sections.ts',
    "import { postureCheckRules } from '../../entities/posture-check.ts';",
    "import { labelRules } from '../../entities/label.ts';",
  ],
  ['controller-sim/lab/seed/sections.ts', '  identities,', '  labels: described(labelRules),'],
];

/** A field of services, `priority`: schemas, type, rule, JSON. */
export const PRIORITY = { type: 'integer', default: 0 };
export const FIELD: typeof LISTED = [
  [
    'controller-sim/state/kinds/service.ts',
    '  readonly maxIdleTimeMillis: number;',
    '  readonly priority?: number | undefined;',
  ],
  [
    'controller-sim/state/kinds/service.ts',
    "import { count, flag, name, text, texts } from '../fields.ts';",
    "import { integer, optional } from '../fields.ts';",
  ],
  ['controller-sim/state/kinds/service.ts', '    isFabricOnly: flag,', '    priority: optional(integer),'],
  [
    'controller-sim/entities/service.ts',
    '    maxIdleTimeMillis: given.maxIdleTimeMillis ?? keep?.maxIdleTimeMillis ?? 0,',
    '    priority: given.priority ?? keep?.priority ?? 0,',
  ],
];
export const SHOWN_FIELD: typeof LISTED = [
  ['controller-sim/api/edge/services.ts', '    maxIdleTimeMillis,', '    priority: service.priority ?? 0,'],
];

/** An option of the simulator, `motto`: type, row, use. */
export const OPTION: typeof LISTED = [
  ['controller-sim/assembly/options.ts', '  linkVersion?: string;', '  motto?: string;'],
  [
    'controller-sim/assembly/options.ts',
    '  linkVersion: { check: version },',
    "  motto: { check: stringOfLength(1, 40), flag: { flags: '--motto <text>', help: 'logged at the start' } },",
  ],
  [
    'controller-sim/assembly/simulator.ts',
    '  data.started();',
    "  if (options.motto) context.logOf('lab').info({ motto: options.motto }, 'motto');",
  ],
];

/** A function of the lab, `day`: description, answer, method. */
export const LAB_FUNCTION: typeof LISTED = [
  [
    'schemas/lab/time.ts',
    '  functions: [',
    `    {
      id: 'detailDay',
      route: 'GET /clock/day',
      access: 'admin.read',
      query: { after: 'integer' },
      answer: 'labDay',
      rejections: [400, 401, 429],
      call: 'clock.day(options)',
      commands: [
        {
          name: 'day',
          text: 'print the day',
          options: { after: { flags: '--after <days>', text: 'so many days later' } },
          examples: ['day --ready sim.json'],
          prints: 'it is the {day}',
        },
      ],
    },`,
  ],
  [
    'schemas/lab/time.ts',
    '  answers: {',
    "    labDay: { type: 'object', required: ['day'], properties: { day: { type: 'string' } } },",
  ],
];
export const LAB_METHOD: typeof LISTED = [
  [
    'controller-sim/lab/lab-clock.ts',
    'export class LabClock {',
    `  /** The day, or one after it. @throws InvalidError for an unknown option */
  day(options: { readonly after?: number } = {}): { readonly day: string } {
    const { after = 0 } = options;
    return { day: new Date(this.now().getTime() + after * 86_400_000).toISOString().slice(0, 10) };
  }`,
  ],
];

/** A program that uses the table, the references and the name of the kind, without its operations. */
export const STATE_PROGRAM = `
import { IdSource } from './common/lib/ids.ts';
import { seededRandom } from './common/lib/random.ts';
import { VirtualClock } from './common/lib/time/clock.ts';
import { deleteEntity } from './controller-sim/entities/cascade.ts';
import { baseFields } from './controller-sim/entities/common.ts';
import { DataIntegrity } from './controller-sim/state/integrity.ts';
import { inWords } from './controller-sim/state/kinds.ts';
import { State } from './controller-sim/state/state.ts';
import { MemoryStore } from './controller-sim/state/store/memory-store.ts';

const clock = new VirtualClock();
const state = await State.open({ store: new MemoryStore(), clock, ids: new IdSource(seededRandom(1)) });
const { label } = state.tables;
await state.change((transaction) => {
  for (const id of ['wiki', 'shop']) transaction.put('service', { ...baseFields(transaction, id), name: id, roleAttributes: [], configs: [] });
  transaction.put('label', { ...baseFields(transaction, 'l'), name: 'web', services: ['wiki', 'shop', 'none'] });
});
const integrity = new DataIntegrity(state, clock);
integrity.start({ fix: true });
while (integrity.report.inProgress) await state.change(() => undefined);
const mended = label.get('l').services;
await state.change((transaction) => deleteEntity(transaction, 'service', 'shop'));
const found = label.findBy('name', 'web');
console.log(JSON.stringify({ word: inWords('label'), size: label.size, mended, found, referring: label.referring('services', 'wiki').length }));
`;

/** A program that uses the kind, and prints what it has seen as JSON. */
export const PROGRAM = `
import { writeFileSync } from 'node:fs';
import { createLog } from './common/lib/log/log.ts';
import { simulatorProgram } from './entry/sim-program.ts';
import { readCalls } from './tools/generate/clients/contract.ts';
import { pythonLab } from './tools/generate/clients/python.ts';
import { startSimulator } from './controller-sim/assembly/simulator.ts';
import { simulatorOption } from './controller-sim/commands/serving/serve.ts';
import { ApiClient } from './test/support/clients/api-client.ts';

const lines: string[] = [];
const printedBy = async (args: readonly string[]) => {
  const texts: string[] = [];
  const { write } = process.stdout;
  process.stdout.write = (text: string) => texts.push(text) > 0;
  await simulatorProgram().parseAsync(args, { from: 'user' });
  process.stdout.write = write;
  return texts.join('');
};
await using api = await ApiClient.start({ motto: 'be kind', log: createLog({ write: (line) => void lines.push(line) }) });
const service = (name: string) => api.create('/services', { name, encryptionRequired: true, priority: 3 });
const [wiki, shop] = [await service('wiki'), await service('shop')];
const id = await api.create('/labels', { name: 'web', services: [wiki, shop] });
const services = async () => (await api.get('/labels/' + id)).services.length;
const { baseUrl, ca, username, password } = api.simulator;
writeFileSync('ca.pem', ca);
const seen = {
  shown: { services: await services(), link: (await api.get('/labels/' + id))._links.self.href },
  found: await api.names('/labels?filter=' + encodeURIComponent('anyOf(services) = "' + wiki + '" and name contains "e"')),
  taken: (await api.manage('POST', '/labels', { name: 'web' })).cause,
  misplaced: (await api.manage('POST', '/labels', { name: 'x', services: ['none'] })).status,
  wrong: (await api.manage('PATCH', '/labels/' + id, { services: 'wiki' })).code,
  counted: (await api.get('/summary')).labels,
  kept: api.simulator.lab.snapshots.take('labels').entities > 0,
  afterDeletion: await api.change('DELETE', '/services/' + shop).then(services),
  renamed: await api.change('PATCH', '/labels/' + id, { name: 'pages' }).then(() => api.names('/labels')),
  restored: await api.simulator.lab.snapshots.restore('labels').then(() => api.names('/labels')),
  servicesOfRestored: await services(),
  exported: api.simulator.lab.export(),
  priority: (await api.get('/services/' + wiki)).priority,
  seeded: (await api.simulator.lab.seed({ labels: [{ name: 'more', services: ['@wiki'] }] })).created,
  misnamed: await api.simulator.lab.seed({ labels: [{ name: 'other', services: ['@wkii'] }] }).catch(({ message }) => message),
  motto: lines.some((line) => line.includes('be kind')),
  help: simulatorOption('motto').flags,
  rejected: await startSimulator({ motto: '' }).catch(({ message }) => message),
  documented: (await api.ask('GET', '/edge/management/v1/swagger.json')).text.includes('createLabel'),
  day: (await api.manage('GET', '/lab/v1/clock/day?after=1')).data,
  noNumber: (await api.manage('GET', '/lab/v1/clock/day?after=x')).cause,
  printed: await printedBy(['day', '--after', '2', '--url', baseUrl, '--ca', 'ca.pem', '--username', username, '--password', password ?? '']),
  inPython: pythonLab(readCalls()).includes('def detail_day(self, *, after: int | None = None) -> Day:'),
  deleted: await api.change('DELETE', '/labels/' + id).then(() => api.names('/labels')),
};
console.log(JSON.stringify(seen));
`;
