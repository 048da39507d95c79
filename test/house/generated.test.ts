// Generated files are up to date with the schemas.

import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import t from 'tap';
import { BODY_SCHEMAS } from '#schemas/api/body-schemas.ts';
import { ROUTER_SCHEMA } from '../../agent/config/router-schema.ts';
import { type CompatRecord, compatPage } from '../../tools/compat/compat-report.ts';
import { generateApi } from '../../tools/generate/api.ts';
import { readCalls, sampleCall } from '../../tools/generate/clients/contract.ts';
import { generateClients } from '../../tools/generate/clients.ts';
import { generateConfig } from '../../tools/generate/config.ts';
import { generateLabReference } from '../../tools/generate/lab-reference.ts';
import { generateLimits } from '../../tools/generate/limits.ts';
import { generateVersions } from '../../tools/generate/versions.ts';
import { numbersSource } from '../../tools/generate/wire.ts';

const ROOT = join(import.meta.dirname, '../..');

t.test('generated files match the schemas; run `npm run generate` if this fails', async (t) => {
  for (const [path, content] of [
    ...generateConfig(),
    ...generateApi(),
    ...generateLimits(),
    ...generateClients(),
    ...generateVersions(),
    ...generateLabReference(),
    ['common/wire/gen/numbers.ts', numbersSource()] as const,
  ]) {
    t.equal(readFileSync(join(ROOT, path), 'utf8'), content, path);
  }
});

t.test('the requests that the tests of clients send have every field of the contract, and are valid', async (t) => {
  const ajv = new Ajv({ strict: false });
  ajv.addSchema({ $id: 'bodies', $defs: BODY_SCHEMAS });
  interface Fields {
    readonly $ref?: string;
    readonly properties?: Readonly<Record<string, Fields>>;
    readonly items?: Fields;
  }
  const schemas: Readonly<Record<string, Fields>> = BODY_SCHEMAS;
  /** The places of all fields that a sample lacks. */
  const missing = (schema: Fields, value: unknown, place: string): string[] => {
    if (schema.$ref !== undefined) return missing(schemas[schema.$ref.replace('#/$defs/', '')] ?? {}, value, place);
    if (schema.items) return missing(schema.items, (value as unknown[] | undefined)?.[0], `${place}[0]`);
    return Object.entries(schema.properties ?? {}).flatMap(([name, each]) => {
      const field = (value as Record<string, unknown> | undefined)?.[name];
      return field === undefined ? [`${place}.${name}`] : missing(each, field, `${place}.${name}`);
    });
  };
  const calls = readCalls().filter(({ body }) => body.length > 0);
  t.ok(calls.length > 10);
  for (const call of calls) {
    const type = call.operation.body?.type ?? '';
    const { body } = sampleCall(call);
    t.same(missing(schemas[type] ?? {}, body, call.name), []);
    t.ok(ajv.validate(`bodies#/$defs/${type}`, body), `${call.name}: ${ajv.errorsText()}`);
  }
});

t.test('the page about compatibility follows from its record; run `npm run compat` if this fails', async (t) => {
  const content = (name: string) => readFileSync(join(ROOT, 'docs/reference', name), 'utf8');
  t.equal(content('compat.md'), compatPage(JSON.parse(content('compat.json')) as CompatRecord));
});

t.test('the schemas are valid: the programs do not validate them at each start', async (t) => {
  const table: [ajv: Ajv | Ajv2020, schema: object][] = [
    [new Ajv2020({ strict: false }), ROUTER_SCHEMA],
    ...Object.values(BODY_SCHEMAS).map((schema): [Ajv, object] => [new Ajv({ strict: false }), schema]),
  ];
  for (const [ajv, schema] of table) t.ok(ajv.validateSchema(schema), ajv.errorsText());
  t.notOk(new Ajv({ logger: false }).validateSchema({ type: 'no type' }), 'an invalid one is rejected');
});

t.test(
  'the lockfile names every platform, so that `npm ci` accepts it; run `npm run lock` if this fails',
  async (t) => {
    const tool = join(ROOT, 'tools/complete-lockfile.mjs');
    const run = (...args: string[]) => spawnSync(process.execPath, [tool, ...args], { encoding: 'utf8' });
    t.equal(run('--check').stdout, '');
    const file = join(mkdtempSync(join(tmpdir(), 'edgeweave-test-')), 'package-lock.json');
    t.teardown(() => rmSync(dirname(file), { recursive: true }));
    const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
    const whole = JSON.stringify(lock, null, 2);
    for (const name of Object.keys(lock.packages))
      if (/@biomejs\/cli-(?:darwin|win32|linux-\w+-musl)/.test(name)) delete lock.packages[name];
    writeFileSync(file, JSON.stringify(lock));
    const checked = run('--check', file);
    t.equal(checked.status, 1);
    t.match(checked.stdout, /missing: node_modules\/@biomejs\/cli-darwin-arm64/);
    execFileSync(process.execPath, [tool, file]);
    t.equal(readFileSync(file, 'utf8').trimEnd(), whole, 'the entries are added at the positions that npm uses');
  },
);

t.test('a misspelled script is named', async (t) => {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('npm_')));
  const misspelled = spawnSync('npm', ['run', 'tset'], { cwd: ROOT, env, encoding: 'utf8' });
  t.not(misspelled.status, 0);
  t.match(misspelled.stderr, /Missing script.*tset/);
});
