// Converts the tree to the form that the schema describes: null sections, a string in place of a list or boolean,
// case-insensitive keys.

import type { ConfigSchema } from '../../schemas/config/schema.ts';
import { type ConfigNode, mapNode, scalarNode } from './document.ts';
import { type Finding, finding } from './finding.ts';

export function normalize(root: ConfigNode, schema: ConfigSchema): { root: ConfigNode; findings: Finding[] } {
  const findings: Finding[] = [];
  return { root: new Normalizer(schema, findings).node(root, schema) ?? root, findings };
}

/** The branch of a `oneOf` that a node selects by its discriminator. */
export function branchFor(schema: ConfigSchema, node: ConfigNode): ConfigSchema | undefined {
  const property = schema.discriminator?.propertyName ?? '';
  const value = node.entries.get(property)?.scalar;
  return schema.oneOf?.find((branch) => branch.properties?.[property]?.const === value);
}

export function dereference(root: ConfigSchema, schema: ConfigSchema): ConfigSchema {
  return schema.$ref ? (root.$defs?.[schema.$ref.replace('#/$defs/', '')] ?? schema) : schema;
}

class Normalizer {
  readonly #root: ConfigSchema;
  readonly #findings: Finding[];

  constructor(root: ConfigSchema, findings: Finding[]) {
    this.#root = root;
    this.#findings = findings;
  }

  /** Returns undefined if the node counts as absent. */
  node(node: ConfigNode, given: ConfigSchema): ConfigNode | undefined {
    const schema = dereference(this.#root, given);
    if (node.kind === 'scalar') return this.#scalar(node, schema);
    if (node.kind === 'list') {
      const items = schema.items;
      return items ? { ...node, items: node.items.map((item) => this.node(item, items) ?? item) } : node;
    }
    const described = schema.oneOf ? branchFor(schema, node) : schema;
    return described ? this.#map(node, described) : node;
  }

  #scalar(node: ConfigNode, schema: ConfigSchema): ConfigNode | undefined {
    if (node.scalar === null && schema['x-null'] === 'absent') return undefined;
    if (node.scalar === null && schema['x-null'] === 'empty') {
      const message = 'an empty section counts as present here, but as absent in the reference';
      this.#findings.push(
        finding({
          severity: 'warning',
          code: 'CFG-PORTABILITY',
          path: node.path,
          at: node.at,
          message,
          hint: 'write {} for an empty section in both',
        }),
      );
      return mapNode(node, new Map());
    }
    if (schema['x-as-list'] && typeof node.scalar === 'string')
      return { ...node, kind: 'list', items: [{ ...node, path: `${node.path}[0]` }] };
    if (schema['x-true-text'] && node.scalar !== null && typeof node.scalar !== 'boolean')
      return scalarNode(node, String(node.scalar).toLowerCase() === 'true');
    return node;
  }

  #map(node: ConfigNode, schema: ConfigSchema): ConfigNode {
    const entries = new Map<string, ConfigNode>();
    for (const [given, value] of node.entries) {
      const key = schema['x-case-insensitive'] ? this.#knownKey(given, schema) : given;
      const property = schema.properties?.[key];
      const normalized = property
        ? this.node(value, schema['x-case-insensitive'] ? { 'x-case-insensitive': true, ...property } : property)
        : value;
      if (normalized) entries.set(key, normalized);
    }
    return mapNode(node, entries);
  }

  #knownKey(given: string, schema: ConfigSchema): string {
    return Object.keys(schema.properties ?? {}).find((key) => key.toLowerCase() === given.toLowerCase()) ?? given;
  }
}
