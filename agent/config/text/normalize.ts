// Converts the tree to the form that the schema describes: empty values, a string in place of a list or boolean,
// case-insensitive keys.

import type { ConfigSchema } from '../../../schemas/config/schema.ts';
import { type Finding, type FindingCode, type FindingInit, finding } from '../finding.ts';
import { type ConfigNode, mapNode, scalarNode } from './document.ts';

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
      return items ? { ...node, items: node.items.flatMap((item) => this.node(item, items) ?? []) } : node;
    }
    const described = schema.oneOf ? branchFor(schema, node) : schema;
    return described ? this.#map(node, described) : node;
  }

  #scalar(node: ConfigNode, schema: ConfigSchema): ConfigNode | undefined {
    const { scalar } = node;
    const meaning = scalar === null ? schema['x-null'] : scalar === '' ? schema['x-empty'] : undefined;
    if (meaning === 'tolerated') {
      const message = 'an empty value counts as not set; the reference does not accept it';
      this.#warn('CFG-PORTABILITY', node, message, { hint: 'remove it', rejectedByReference: true });
    }
    if (meaning === 'absent' || meaning === 'tolerated') return undefined;
    if (meaning === 'empty') {
      const message = 'an empty section counts as present here, but as absent in the reference';
      this.#warn('CFG-PORTABILITY', node, message, { hint: 'write {} for an empty section in both' });
      return mapNode(node, new Map());
    }
    if (schema['x-as-list'] && typeof node.scalar === 'string')
      return { ...node, kind: 'list', items: [{ ...node, path: `${node.path}[0]` }] };
    if (schema['x-zero'] && scalar === 0) return scalarNode(node, '0s');
    if (schema['x-text'] && scalar !== null) return scalarNode(node, String(scalar));
    if (schema['x-true-text'] && typeof scalar !== 'boolean') {
      if (scalar === null || scalar === '')
        this.#warn('CFG-VALUE', node, 'an empty value means false, as in the reference', {
          hint: 'write true or false',
        });
      return scalarNode(node, String(scalar).toLowerCase() === 'true');
    }
    return node;
  }

  #warn(
    code: FindingCode,
    { path, at }: ConfigNode,
    message: string,
    rest: Pick<FindingInit, 'hint' | 'rejectedByReference'>,
  ): void {
    this.#findings.push(finding({ severity: 'warning', code, path, at, message, ...rest }));
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
    this.#removeUnused(entries, schema);
    return mapNode(node, entries);
  }

  #removeUnused(entries: Map<string, ConfigNode>, schema: ConfigSchema): void {
    for (const [key, property] of Object.entries(schema.properties ?? {})) {
      const other = property['x-unused-with'];
      const node = entries.get(key);
      if (other === undefined || node === undefined || !entries.has(other)) continue;
      this.#warn('CFG-ENDPOINT', node, `${key} is ignored because ${other} is set`, { hint: 'keep one of the two' });
      entries.delete(key);
    }
  }

  #knownKey(given: string, schema: ConfigSchema): string {
    return Object.keys(schema.properties ?? {}).find((key) => key.toLowerCase() === given.toLowerCase()) ?? given;
  }
}
