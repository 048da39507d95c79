// The keyword `uniqueItems` for the schemas of config types. The library's own compares all items with all others.

import type { FuncKeywordDefinition, SchemaValidateFunction } from 'ajv';

/** The text of an error is that of the reference, whose validator also compares items by their JSON. */
export const UNIQUE_ITEMS: FuncKeywordDefinition = {
  keyword: 'uniqueItems',
  type: 'array',
  schemaType: 'boolean',
  compile: (isWanted: boolean) => (isWanted ? validateUnique : () => true),
};

const validateUnique: SchemaValidateFunction = (items: readonly unknown[]) => {
  const pair = firstPair(items);
  if (!pair) return true;
  validateUnique.errors = [{ message: `array items[${pair.join(',')}] must be unique`, params: {} }];
  return false;
};

/** The positions of two equal items; undefined if all differ. */
function firstPair(items: readonly unknown[]): readonly [number, number] | undefined {
  const positions = new Map<string, number>();
  for (const [position, item] of items.entries()) {
    const text = JSON.stringify(item, withSortedKeys);
    const earlier = positions.get(text);
    if (earlier !== undefined) return [earlier, position];
    positions.set(text, position);
  }
  return undefined;
}

function withSortedKeys(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
