// The recipes of docs/architecture.md for a new kind of entity, its operations, a new field, a new option and a new
// function of the lab, followed in a copy of the project.

import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import {
  ANSWERS,
  BODIES,
  DESCRIPTION,
  FIELD,
  HANDLERS,
  LAB_FUNCTION,
  LAB_METHOD,
  LISTED,
  OPERATION_FILE,
  OPERATIONS,
  OPTION,
  PRIORITY,
  PROGRAM,
  RULES_FILE,
  SEED_FORM,
  SEEDED,
  SHOWN_FIELD,
  STATE_PROGRAM,
} from '../support/house/new-kind.ts';

const ROOT = join(import.meta.dirname, '../..');
const COPIED = [
  'agent',
  'common',
  'controller-sim',
  'entry',
  'examples',
  'package.json',
  'schemas',
  'test/support',
  'testbed',
  'tools',
  'tsconfig.json',
];
const copy = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
t.teardown(() => rmSync(copy, { recursive: true, force: true }));
for (const path of COPIED) cpSync(join(ROOT, path), join(copy, path), { recursive: true });
symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
// The second run of the compiler checks only what has changed since the first.
const PROJECT = { extends: './tsconfig.json', include: ['controller-sim'], compilerOptions: { incremental: true } };
writeFileSync(join(copy, 'tsconfig.simulator.json'), JSON.stringify(PROJECT));

const read = (path: string) => readFileSync(join(copy, path), 'utf8');
const write = (path: string, content: string) => writeFileSync(join(copy, path), content);
const exec = promisify(execFile);
const run = (args: readonly string[]) => exec('env', ['-u', 'NODE_OPTIONS', ...args], { cwd: copy });

function insert(lines: typeof LISTED): void {
  for (const [path, after, inserted] of lines) {
    const [before, ...rest] = read(path).split(`${after}\n`);
    if (rest.length !== 1) throw new Error(`${path} does not have the line once: ${after}`);
    write(path, `${before}${after}\n${inserted}\n${rest[0]}`);
  }
}

function addTypes(path: string, types: object): void {
  const schema = JSON.parse(read(path));
  write(path, JSON.stringify({ ...schema, $defs: { ...schema.$defs, ...types } }));
}

/** The field `priority` of services. */
function addPriority(): void {
  const add = (path: string, names: readonly string[], isRequired: boolean) => {
    const schema = JSON.parse(read(path));
    for (const name of names) {
      const type = schema.$defs[name].allOf?.[1] ?? schema.$defs[name];
      type.properties.priority = { type: 'integer' };
      if (isRequired) type.required.push('priority');
    }
    write(path, JSON.stringify(schema));
  };
  add('schemas/api/bodies.json', ['serviceCreate', 'serviceUpdate', 'servicePatch'], false);
  add('schemas/api/answers.json', ['serviceDetail'], true);
}

/** The section of seeds, and the field of services. */
function addSeedForm(): void {
  const path = 'schemas/sim/seed.schema.json';
  const schema = JSON.parse(read(path));
  schema.properties.labels = { type: 'array', items: { $ref: '#/definitions/label' } };
  schema.definitions.label = SEED_FORM;
  schema.definitions.service.properties.priority = PRIORITY;
  write(path, JSON.stringify(schema));
}

/** The errors of the compiler. */
async function compile(): Promise<string[]> {
  const outcome = run([
    join(ROOT, 'node_modules/.bin/tsc'),
    '--pretty',
    'false',
    '--checkers',
    '1',
    '-p',
    'tsconfig.simulator.json',
  ]);
  const { stdout } = await outcome.catch((error: { stdout: string }) => error);
  return stdout.split('\n').filter((line) => line.includes('error TS'));
}

/** Runs a program, and reads its last line as JSON. */
async function printed(program: string): Promise<unknown> {
  write('use.ts', program);
  const { stdout } = await run([process.execPath, 'use.ts']);
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
}

t.test('one file and one line add a kind of entity: its table, indexes, cascade and repairs', async (t) => {
  t.equal(Object.keys(DESCRIPTION).length, 1);
  for (const [path, content] of Object.entries(DESCRIPTION)) write(path, content);
  insert(LISTED);
  t.match(await printed(STATE_PROGRAM), {
    word: 'label',
    size: 1,
    mended: ['wiki', 'shop'],
    found: { services: ['wiki'] },
    referring: 1,
  });
});

t.test(
  'one file, one line and the schemas add its operations; a description and a method add a function of the lab',
  async (t) => {
    t.equal(Object.keys(RULES_FILE).length, 1);
    t.equal(Object.keys(OPERATION_FILE).length, 1);
    addTypes('schemas/api/bodies.json', BODIES);
    addTypes('schemas/api/answers.json', ANSWERS);
    write('schemas/api/operations.tsv', `${read('schemas/api/operations.tsv')}${OPERATIONS.join('\n')}\n`);
    addPriority();
    insert(LAB_FUNCTION);
    write(
      'generate.ts',
      `import { writeFileSync } from 'node:fs';
import { generateApiTypes } from './tools/generate/api-types.ts';
import { labHandlers } from './tools/generate/lab-handlers.ts';
for (const [path, content] of [...generateApiTypes(), ['controller-sim/api/lab/gen/handlers.ts', labHandlers()] as const])
  writeFileSync(path, content);
`,
    );
    await run([process.execPath, 'generate.ts']);
    for (const [path, content] of Object.entries(OPERATION_FILE)) write(path, content);
    const rules = Object.entries(RULES_FILE);
    for (const [path, content] of rules) write(path, content.replaceAll('FIELD', 'servcies'));
    insert(FIELD);
    insert(OPTION);
    // The compiler demands handlers of operations, the fields of bodies and answers, and the methods of the lab.
    t.match(await compile(), [
      /^controller-sim\/api\/edge\/services\.ts.*'ServiceDetail'/,
      /^controller-sim\/api\/edge\/services\.ts.*'ServiceDetail'/,
      /^controller-sim\/api\/lab\/gen\/handlers\.ts.*'day' does not exist on type 'LabClock'/,
      /^controller-sim\/api\/server\/routes\.ts.*listLabels, createLabel/,
      /^controller-sim\/entities\/label\.ts.*'servcies' does not exist/,
    ]);
    for (const [path, content] of rules) write(path, content.replaceAll('FIELD', 'services'));
    insert(HANDLERS);
    insert(LAB_METHOD);
    insert(SHOWN_FIELD);
    addSeedForm();
    insert(SEEDED);
    t.same(await compile(), []);
  },
);

t.test(
  'the kind has lists, filters, checks, counts, cascades, snapshots and seeds; the field and the option work',
  async (t) => {
    t.match(await printed(PROGRAM), {
      shown: { services: 2, link: /^\.\/labels\// },
      found: ['web'],
      taken: { field: 'name', reason: 'name must be unique' },
      misplaced: 404,
      wrong: 'COULD_NOT_PARSE_BODY',
      counted: 1,
      kept: true,
      afterDeletion: 1,
      renamed: ['pages'],
      restored: ['web'],
      servicesOfRestored: 2,
      exported: {
        labels: [{ name: 'web', services: ['@shop', '@wiki'] }],
        services: [{ priority: 3 }, { priority: 3 }],
      },
      priority: 3,
      seeded: { labels: 1 },
      misnamed: /labels\[0\]\.services\[0\]: label other: there is no service wkii; did you mean wiki\?/,
      motto: true,
      help: '--motto <text>',
      rejected: /the option motto is invalid/,
      documented: true,
      day: { day: /^\d{4}-\d{2}-\d{2}$/ },
      noNumber: { field: 'after', reason: 'use a whole number of at least 0' },
      printed: /^it is the \d{4}-\d{2}-\d{2}\n$/,
      inPython: true,
      deleted: ['more'],
    });
  },
);
