// Compares two copies of the data model: `wanted` from a controller, `actual` of this router. Names of kinds and texts
// are those of the reference.

import { isMap } from '#lib/json/is-map.ts';
import type { DataModel } from './data-model.ts';

export interface ModelDifference {
  readonly entityType: string;
  readonly entityId: string;
  readonly diffType: 'added' | 'modified' | 'removed';
  readonly detail: string;
}

/** Limit on the differences of one comparison: a model of another network differs in every entity. */
const MAX_DIFFERENCES = 10_000;
/** Limit on the characters of a value in a text. */
const MAX_VALUE_LENGTH = 200;

const REVOCATIONS = 'revocations';

/** The tables of a model, by the kind of their entities. */
function tablesOf(model: DataModel): Readonly<Record<string, ReadonlyMap<string, object>>> {
  return {
    configType: model.configTypes,
    config: model.configs,
    identity: model.identities,
    service: model.services,
    router: model.routers,
    'service-policy': model.policies,
    'posture-check': model.postureChecks,
    'public-keys': model.publicKeys,
    [REVOCATIONS]: model.revocations,
  };
}

/** Number of entities by kind. */
export function countEntities(model: DataModel): Record<string, number> {
  return Object.fromEntries(Object.entries(tablesOf(model)).map(([kind, { size }]) => [kind, size]));
}

export function compareModels(wanted: DataModel, actual: DataModel): ModelDifference[] {
  const differences: ModelDifference[] = [];
  const own = tablesOf(actual);
  for (const [entityType, table] of Object.entries(tablesOf(wanted))) {
    for (const found of compareTables(entityType, table, own[entityType] ?? new Map())) {
      differences.push(found);
      if (differences.length >= MAX_DIFFERENCES) return differences;
    }
  }
  return differences;
}

function* compareTables(
  entityType: string,
  wanted: ReadonlyMap<string, object>,
  actual: ReadonlyMap<string, object>,
): Generator<ModelDifference> {
  for (const [entityId, entity] of wanted) {
    const own = actual.get(entityId);
    if (!own) yield { entityType, entityId, diffType: 'removed', detail: 'entity missing' };
    else
      for (const detail of compareEntities(entity, own)) yield { entityType, entityId, diffType: 'modified', detail };
  }
  if (entityType === REVOCATIONS) return; // a router keeps those that the controller has forgotten, until they expire
  for (const entityId of actual.keys())
    if (!wanted.has(entityId)) yield { entityType, entityId, diffType: 'added', detail: 'entity unexpected' };
}

function compareEntities(wanted: object, actual: object): string[] {
  const [orig, copy] = [textsOf(wanted), textsOf(actual)];
  const names = new Set([...orig.keys(), ...copy.keys()]);
  return [...names].flatMap((name) => {
    const [a = '', b = ''] = [orig.get(name), copy.get(name)];
    return a === b ? [] : [`${name} mismatch. orig: ${shortened(a)}, copy: ${shortened(b)}`];
  });
}

/** The fields as texts, so that those of different objects can be compared. */
function textsOf(entity: object): Map<string, string> {
  const fields = Object.entries(entity).filter(([name]) => !name.startsWith('$'));
  return new Map(fields.map(([name, value]) => [name, textOf(value)]));
}

function textOf(value: unknown): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  return JSON.stringify(value, ordered) ?? '';
}

/** Sets and usages of keys are unordered, and so are the keys of maps. */
function ordered(key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  if (value instanceof Set) return [...value].sort();
  if (key === '' && Array.isArray(value) && value.every((each) => typeof each === 'number')) return value.toSorted();
  if (!isMap(value)) return value;
  const entries = Object.entries(value).filter(([name]) => !name.startsWith('$'));
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function shortened(text: string): string {
  return text.length > MAX_VALUE_LENGTH ? `${text.slice(0, MAX_VALUE_LENGTH)}…` : text;
}
