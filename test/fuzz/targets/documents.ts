// Documents of strangers that the simulator and its tools read: snapshots, recordings, scenarios, rows of a store, the
// data model of a router; and documents that are programs: regular expressions, schemas with data.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { create, toBinary } from '@bufbuild/protobuf';
import { IdSource } from '#lib/ids.ts';
import { JsonDepthError, parseJson } from '#lib/json/json.ts';
import { silentLog } from '#lib/log/log.ts';
import { seededRandom } from '#lib/random.ts';
import { LinearPattern, loadPatterns } from '#lib/text/linear-pattern.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { decodeBody } from '#wire/decode-body.ts';
import { DataStateSchema } from '#wire/gen/edge_control_pb.js';
import { DataModel } from '../../../agent/access/data-model.ts';
import { seedBuiltIns, setAdmin } from '../../../controller-sim/assembly/seed.ts';
import { firstError, requireSchema } from '../../../controller-sim/entities/schema-validator.ts';
import { ApiError } from '../../../controller-sim/errors/errors.ts';
import { keyOf, parseRecording, recordingText } from '../../../controller-sim/lab/journal/recording.ts';
import { InvalidError } from '../../../controller-sim/lab/lab-error.ts';
import { SeedError } from '../../../controller-sim/lab/seed/mistake.ts';
import { entitiesForFile, entitiesOfFile, SNAPSHOT_FORMAT } from '../../../controller-sim/lab/snapshot-file.ts';
import type { Entity } from '../../../controller-sim/state/entity.ts';
import { KIND_NAMES, KINDS } from '../../../controller-sim/state/kinds.ts';
import { State } from '../../../controller-sim/state/state.ts';
import { MemoryStore } from '../../../controller-sim/state/store/memory-store.ts';
import { DamagedError } from '../../../controller-sim/state/store/store.ts';
import { readStoredEntity } from '../../../controller-sim/state/store/stored-entity.ts';
import { readScenario } from '../../../testbed/load/scenario.ts';
import type { FuzzTarget } from '../runner.ts';

/** A document is read once, on request of an administrator. */
const MAX_DOCUMENT_TIME_MS = 200;

export async function documentTargets(): Promise<FuzzTarget[]> {
  await loadPatterns();
  return [await snapshotTarget(), recordings(), scenarios(), rows(), dataModels(), patterns(), schemas()];
}

async function snapshotTarget(): Promise<FuzzTarget> {
  const clock = new VirtualClock(Date.UTC(2030, 0));
  const state = await State.open({ store: new MemoryStore(), clock, ids: new IdSource(seededRandom(1)) });
  await seedBuiltIns(state);
  await state.change((transaction) => setAdmin(transaction, 'admin', 'hash'));
  const { tables } = state;
  const configured = KIND_NAMES.filter((kind) => KINDS[kind].isConfigured);
  const byId = (entities: Iterable<Entity>) => new Map(Array.from(entities, (entity) => [entity.id, entity]));
  const entities = new Map(configured.map((kind) => [kind, byId(tables[kind].values())]));
  const file = (credentials: boolean) => ({
    format: SNAPSHOT_FORMAT,
    name: 'base',
    takenAt: '2030-01-01T00:00:00Z',
    credentials,
    clock: { now: 0, advanced: 0, rate: 1 },
    entities: entitiesForFile(entities, { credentials }),
  });
  for (const credentials of [false, true]) entitiesOfFile(file(credentials), tables, { credentials }); // they are valid
  const [{ id, ...policy } = { id: '' }] = file(false).entities.authPolicy ?? [];
  const many = (kind: string, part: (index: number) => object) => (length: number) => {
    const list: object[] = [];
    for (let left = length; left > 0; left -= JSON.stringify(list.at(-1)).length) list.push(part(list.length));
    return Buffer.from(JSON.stringify({ ...file(false), entities: { ...file(false).entities, [kind]: list } }));
  };
  return {
    name: 'snapshot files',
    seeds: [file(false), file(true)].map((each) => Buffer.from(JSON.stringify(each))),
    slowest: MAX_DOCUMENT_TIME_MS,
    growing: {
      'entities of one name': many('authPolicy', (index) => ({ ...policy, id: `${id}${index}` })),
      'entities of one id': many('authPolicy', () => ({ ...policy, id })),
      'wrong entities': many('service', () => ({})),
    },
    run: (input) => entitiesOfFile(parseJson(input.toString()), tables, { credentials: true }),
    rejects: (error) => error instanceof InvalidError || isNotJson(error),
  };
}

function recordings(): FuzzTarget {
  const request = { method: 'POST', path: '/edge/management/v1/services', query: 'limit=5', body: '{"name":"web"}' };
  const answer = { status: 200, headers: { 'content-type': 'application/json' }, body: '{"data":{"token":"x"}}' };
  const { text } = recordingText('https://ctrl.example', [
    { request, answer },
    { request: { ...request, body: 'a=b&password=c' }, answer: { ...answer, isBase64: true } },
  ]);
  return {
    name: 'recordings',
    seeds: [Buffer.from(text)],
    slowest: MAX_DOCUMENT_TIME_MS,
    run: (input) => {
      const recorded = parseRecording(input.toString(), 'file');
      for (const each of recorded) keyOf(each.request);
      recordingText('https://ctrl.example', recorded);
    },
    rejects: (error) => error instanceof Error && 'code' in error && error.code === 'RECORDING',
  };
}

function scenarios(): FuzzTarget {
  return {
    name: 'load scenarios',
    seeds: [readFileSync(join(import.meta.dirname, '../../../examples/load/scenario.yml'))],
    slowest: MAX_DOCUMENT_TIME_MS,
    longest: 32 * 1024,
    costOfKib: { milliseconds: 10, bytes: 8 * 1024 * 1024 },
    run: (input) => readScenario(input.toString()),
    rejects: (error) => error instanceof SeedError,
  };
}

function rows(): FuzzTarget {
  const base = {
    id: 'a',
    createdAt: '2030-01-01T00:00:00Z',
    updatedAt: '2030-01-01T00:00:00Z',
    tags: {},
    isSystem: false,
  };
  return {
    name: 'stored entities',
    seeds: [Buffer.from(JSON.stringify({ ...base, name: 'web', configs: [], roleAttributes: ['a'] }))],
    run: (input) => readStoredEntity({ kind: 'service', id: 'a', body: input.toString() }, 'row'),
    rejects: (error) => error instanceof DamagedError,
  };
}

function dataModels(): FuzzTarget {
  const state = create(DataStateSchema, { endIndex: 5n, fileOfRouter: 'r1', timelineId: 'x' });
  return {
    name: 'data model files',
    seeds: [Buffer.from(toBinary(DataStateSchema, state))],
    run: (input) => new DataModel(silentLog).replace(decodeBody(DataStateSchema, input, { readUnknownFields: false })),
    rejects: (error) => error instanceof Error && error.name !== 'InvariantError',
  };
}

/** The first line is the expression, the others are texts. */
function patterns(): FuzzTarget {
  const texts = ['a'.repeat(2_000), 'ab'.repeat(1_000), `${'x'.repeat(1_000)}!`, 'link.latency.p50'];
  const expressions = [
    '^(a+)+$',
    '(x+x+)+y',
    '(a|a?)+$',
    '[a-z]{1,60}.*\\d',
    '(?i)^[[:alpha:]]+\\.(?P<n>\\pL|\\x{41})*?$',
    '(a{1,20}){1,20}|b{3}',
    '\\bfoo\\B|\\Q(\\E',
  ];
  return {
    name: 'regular expressions',
    seeds: expressions.map((expression) => Buffer.from(expression)),
    longest: 512,
    slowest: MAX_DOCUMENT_TIME_MS,
    costOfKib: { milliseconds: 200, bytes: 64 * 1024 * 1024 },
    run: (input) => {
      const { matches } = new LinearPattern(input.toString());
      for (const text of texts) matches(text);
    },
    rejects: (error) => error instanceof Error && /regular expression|regexp/.test(error.message),
  };
}

/** A schema, and data for it. */
function schemas(): FuzzTarget {
  const twice = (name: string) => ({ allOf: [{ $ref: `#/definitions/${name}` }, { $ref: `#/definitions/${name}` }] });
  const pairs = [
    [{ type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } }, required: ['a'] }, { a: 'aaaa!' }],
    [
      { type: 'object', definitions: { a: twice('b'), b: twice('c'), c: { $ref: '#' } }, ...twice('a') },
      { x: { y: 1 } },
    ],
    [{ items: { anyOf: [{ enum: [1, 'a', null] }, { uniqueItems: true }], not: { const: { b: [] } } } }, [1, [2, 2]]],
    [
      {
        patternProperties: { '^x': { minimum: 5 } },
        additionalProperties: { format: 'ipv4' },
        dependencies: { a: ['b'] },
      },
      { x1: 4, a: '1.2.3.4' },
    ],
  ];
  return {
    name: 'schemas',
    seeds: pairs.map((pair) => Buffer.from(JSON.stringify(pair))),
    longest: 32 * 1024,
    slowest: MAX_DOCUMENT_TIME_MS,
    costOfKib: { milliseconds: 10, bytes: 4 * 1024 * 1024 },
    run: (input) => {
      const [schema, data] = parseJson(input.toString()) as [never, unknown];
      requireSchema(schema);
      firstError(schema, data);
    },
    // A request has a map in place of the schema.
    rejects: (error) => error instanceof ApiError || error instanceof TypeError || isNotJson(error),
  };
}

function isNotJson(error: unknown): boolean {
  return error instanceof SyntaxError || error instanceof JsonDepthError;
}
