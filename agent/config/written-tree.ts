// A configuration as written in its file, for inspections: a tree of values without defaults. Secrets are already
// hidden.

import type { ResolvedValue } from './resolve.ts';

type Tree = Record<string, unknown> | unknown[];

/** Converts values to a tree; paths like `a.b[0].c` name keys and list items. */
export function writtenTree(values: readonly ResolvedValue[]): Record<string, unknown> {
  const root: Record<string, unknown> = {};
  for (const { path, written, source } of values) {
    if (source !== 'default') put(root, steps(path), written);
  }
  return root;
}

function steps(path: string): (string | number)[] {
  return [...path.matchAll(/\[(\d+)\]|[^.[\]]+/g)].map(([name, index]) => (index === undefined ? name : Number(index)));
}

function put(root: Tree, path: readonly (string | number)[], value: unknown): void {
  let tree = root as Record<string | number, unknown>;
  for (const [position, step] of path.entries()) {
    const next = path[position + 1];
    if (next === undefined) define(tree, step, value);
    else {
      if (!Object.hasOwn(tree, step)) define(tree, step, typeof next === 'number' ? [] : {});
      tree = tree[step] as Record<string | number, unknown>;
    }
  }
}

/** Defines the key as data, because a key may be named `__proto__`. */
function define(tree: Record<string | number, unknown>, key: string | number, value: unknown): void {
  Object.defineProperty(tree, key, { value, enumerable: true, configurable: true, writable: true });
}
