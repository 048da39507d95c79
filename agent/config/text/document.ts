// Parses text to a tree of nodes with positions. YAML 1.1 as the reference reads it: `yes` and `on` are booleans, `010`
// is eight, only the first document is read, the last of two duplicate keys wins, `<<` merges (reference facts: config,
// 1.1 and 1.5).

import {
  type Alias,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  parseAllDocuments,
  type Tags,
  type YAMLMap,
  type Node as YamlNode,
} from 'yaml';
import { commandName } from '#lib/commands/name.ts';
import { describeError } from '#lib/errors.ts';
import { withoutStacks } from '#lib/text/without-stacks.ts';
import { isTooLong } from '#lib/text/yaml-size.ts';
import { type Finding, finding, type Position } from '../finding.ts';

export type Scalar = string | number | boolean | null;

export interface ConfigNode {
  /** `link.dialers[0].groups` */
  readonly path: string;
  readonly at: Position;
  /** Position of the key; the node itself for list items. */
  readonly keyAt: Position;
  readonly kind: 'map' | 'list' | 'scalar';
  readonly entries: ReadonlyMap<string, ConfigNode>;
  readonly items: readonly ConfigNode[];
  readonly scalar: Scalar;
  /** The number was written with a decimal point or an exponent, or is too large for an integer. */
  readonly isFloat: boolean;
  /** A number or boolean as written; empty for all other values. */
  readonly literal: string;
  /** The value comes from the environment. */
  readonly fromEnvironment: boolean;
  /** Environment variables in the value that are unset or empty. */
  readonly unset?: readonly string[];
}

/** Far above the needs of any configuration; protects against alias bombs and bracket bombs. */
const MAX_NODES = 50_000;
const MAX_DEPTH = 64;
/** Reported errors of the syntax: one mistake may cause one for each further line. */
const MAX_ERRORS = 100;
/** Types of YAML 1.1 that the reference does not know: `10:30` (to the base 60) and dates are text. */
const BASE_60 = 'TIME';
const TIMESTAMP = 'tag:yaml.org,2002:timestamp';
/** With a digit in front: the library's own pattern fits `e1` too. */
const EXPONENT = /^[-+]?(?:[0-9][0-9_]*(?:\.[0-9_]*)?|\.[0-9][0-9_]*)[eE][-+]?[0-9]+$/;
/** Range in which the reference accepts integers. */
const MAX_INTEGER = 2 ** 63;
/** The library's code of a tab in the indentation. */
const TAB = 'TAB_AS_INDENT';
const START: Position = { line: 1, column: 1 };

class TooLarge extends Error {}

/** The tree of the first document. If it is missing or not a map, only findings. */
export function readDocument(text: string): { root?: ConfigNode; findings: Finding[] } {
  const tooDeep = nestingTooDeep(text);
  if (tooDeep) return { findings: [tooDeep] };
  if (isTooLong(text)) return { findings: [tooLarge(START)] };
  const lines = new LineCounter();
  try {
    const documents = withoutStacks(() =>
      parseAllDocuments(text, {
        version: '1.1',
        merge: true,
        lineCounter: lines,
        customTags: referenceTags,
        uniqueKeys: false, // its comparison of all keys takes minutes for a large map: see #entries
        strict: false,
        prettyErrors: false, // each one would copy its line of the text
        logLevel: 'silent',
      }),
    );
    const [first] = Array.isArray(documents) ? documents : [];
    if (!first?.contents)
      return {
        findings: [
          finding({
            code: 'CFG-EMPTY',
            path: '',
            at: START,
            message: 'the file is empty',
            hint: `\`${commandName('router')} config init\` writes a new one`,
          }),
        ],
      };
    const builder = new TreeBuilder(lines, first.contents);
    if (documents.length > 1) builder.furtherDocuments(documents.length - 1, documents[1]?.range?.[0] ?? 0);
    for (const error of withoutRepeatedTabs(first.errors).slice(0, MAX_ERRORS))
      builder.syntaxError(error.code, error.message, error.pos[0]);
    const broken = builder.findings.some((each) => each.severity === 'error');
    const built = broken ? undefined : builder.build();
    const root = builder.findings.some((each) => each.severity === 'error') ? undefined : built;
    return root ? { root, findings: builder.findings } : { findings: builder.findings };
  } catch (error) {
    if (error instanceof TooLarge || error instanceof RangeError) return { findings: [tooLarge(START)] };
    return {
      findings: [finding({ code: 'CFG-YAML', path: '', at: START, message: `invalid YAML: ${describeError(error)}` })],
    };
  }
}

/** The library's types of YAML 1.1, as far as the reference reads them. */
function referenceTags(tags: Tags): Tags {
  return tags.flatMap((tag): Tags => {
    if (typeof tag === 'string' || tag.collection) return [tag];
    if (tag.tag === TIMESTAMP || tag.format === BASE_60) return [];
    return [tag.format === 'EXP' ? { ...tag, test: EXPONENT } : tag];
  });
}

/** Returns a child of a map node, or undefined. */
export function child(node: ConfigNode | undefined, key: string): ConfigNode | undefined {
  return node?.entries.get(key);
}

/** The node at a path such as `link.dialers[0].groups`, or its nearest existing parent. */
export function nearestNode(root: ConfigNode, path: string): ConfigNode {
  let node = root;
  for (const part of path.match(/[^.[\]]+/g) ?? []) {
    const next: ConfigNode | undefined = node.kind === 'list' ? node.items[Number(part)] : node.entries.get(part);
    if (!next) break;
    node = next;
  }
  return node;
}

/** The plain value of a node, as in JSON. */
export function plain(node: ConfigNode): unknown {
  if (node.kind === 'map') return Object.fromEntries([...node.entries].map(([key, value]) => [key, plain(value)]));
  if (node.kind === 'list') return node.items.map(plain);
  return node.scalar;
}

export function scalarNode(node: ConfigNode, scalar: Scalar, fromEnvironment = node.fromEnvironment): ConfigNode {
  return { ...node, kind: 'scalar', scalar, fromEnvironment, isFloat: false };
}

export function mapNode(node: ConfigNode, entries: ReadonlyMap<string, ConfigNode>): ConfigNode {
  return { ...node, kind: 'map', entries };
}

function tooLarge(at: Position): Finding {
  return finding({
    code: 'CFG-TOO-LARGE',
    path: '',
    at,
    message: `the file is nested deeper than ${MAX_DEPTH} levels or has more than ${MAX_NODES} values`,
  });
}

/** Counts brackets before parsing: a recursive parser must not see a bracket bomb. */
function nestingTooDeep(text: string): Finding | undefined {
  let depth = 0;
  for (let index = 0; index < text.length; index++) {
    const character = text.charCodeAt(index);
    if (character === 0x5b || character === 0x7b) depth++;
    else if (character === 0x5d || character === 0x7d) depth = Math.max(0, depth - 1);
    if (depth > 1_000) return tooLarge({ line: text.slice(0, index).split('\n').length, column: 1 });
  }
  return undefined;
}

class TreeBuilder {
  readonly findings: Finding[] = [];
  readonly #lines: LineCounter;
  readonly #contents: YamlNode;
  /** The latest node with each anchor. The library would search the document for each alias. */
  readonly #anchors = new Map<string, YamlNode>();
  #aliasDepth = 0;
  #count = 0;

  constructor(lines: LineCounter, contents: YamlNode) {
    this.#lines = lines;
    this.#contents = contents;
  }

  furtherDocuments(count: number, offset: number): void {
    const message = `${count === 1 ? 'another document follows' : `${count} more documents follow`}; only the first one is read`;
    const hint = 'remove the line --- and the text after it, or merge it into the first document';
    this.findings.push(
      finding({ severity: 'warning', code: 'CFG-IGNORED', path: '', at: this.#position(offset), message, hint }),
    );
  }

  syntaxError(code: string, message: string, offset: number): void {
    const at = this.#position(offset);
    // Messages about aliases, tags and block scalars quote the value, which may be a password.
    const text = message.split('\n')[0]?.replace(/(?<=extra characters):.*/, '') ?? message;
    if (code === TAB) {
      const message = 'invalid YAML: this line is indented with a tab';
      this.findings.push(finding({ code: 'CFG-YAML', path: '', at, message, hint: 'use spaces, here and below' }));
    } else if (code === 'BAD_ALIAS' || code === 'TAG_RESOLVE_FAILED')
      this.findings.push(
        finding({
          code: 'CFG-YAML',
          path: '',
          at,
          message: `invalid YAML: ${code === 'BAD_ALIAS' ? 'an alias (*)' : 'a tag (!)'} that cannot be resolved`,
          hint: 'quote a string that begins with *, & or !',
        }),
      );
    else
      this.findings.push(
        finding({ code: 'CFG-YAML', path: '', at, message: `invalid YAML: ${text}`, hint: remedy(text) }),
      );
  }

  build(): ConfigNode | undefined {
    if (!isMap(this.#contents)) {
      const what = isSeq(this.#contents) ? 'a list' : 'a single value';
      this.findings.push(
        finding({
          code: 'CFG-TOP-LEVEL',
          path: '',
          at: this.#position(this.#contents.range?.[0] ?? 0),
          message: `the file contains ${what} instead of a map of sections`,
        }),
      );
      return undefined;
    }
    const at = this.#position(this.#contents.range?.[0] ?? 0);
    return this.#node(this.#contents, '', at, 0);
  }

  #node(yaml: YamlNode | null | undefined, path: string, keyAt: Position, depth: number): ConfigNode {
    if (++this.#count > MAX_NODES || depth > MAX_DEPTH) throw new TooLarge();
    const at = yaml?.range ? this.#position(yaml.range[0]) : keyAt;
    const base = {
      path,
      at,
      keyAt,
      entries: new Map<string, ConfigNode>(),
      items: [] as ConfigNode[],
      scalar: null,
      isFloat: false,
      literal: '',
      fromEnvironment: false,
    };
    if (isAlias(yaml)) return { ...this.#aliased(yaml, path, keyAt, at, depth), at };
    if (yaml?.anchor && this.#aliasDepth === 0) this.#anchors.set(yaml.anchor, yaml);
    if (isMap(yaml)) return { ...base, kind: 'map', entries: this.#entries(yaml, path, depth) };
    if (isSeq(yaml))
      return {
        ...base,
        kind: 'list',
        items: yaml.items.map((item, index) => this.#node(item as YamlNode, `${path}[${index}]`, at, depth + 1)),
      };
    if (!isScalar(yaml)) return { ...base, kind: 'scalar' };
    const scalar = toScalar(yaml.value);
    const isLiteral = typeof scalar === 'number' || typeof scalar === 'boolean';
    const literal = isLiteral ? (yaml.source ?? String(scalar)) : '';
    return { ...base, kind: 'scalar', scalar, isFloat: isFloat(scalar, literal), literal };
  }

  #aliased({ source }: Alias, path: string, keyAt: Position, at: Position, depth: number): ConfigNode {
    const target = this.#anchors.get(source);
    if (!target)
      this.findings.push(
        finding({
          code: 'CFG-YAML',
          path,
          at,
          message: 'invalid YAML: this alias has no anchor before it',
          hint: 'quote a string that begins with *',
        }),
      );
    this.#aliasDepth++;
    const node = this.#node(target, path, keyAt, depth + 1);
    this.#aliasDepth--;
    return node;
  }

  #entries(map: YAMLMap, path: string, depth: number): Map<string, ConfigNode> {
    const entries = new Map<string, ConfigNode>();
    const own = new Set<string>();
    for (const pair of map.items) {
      const key = pair.key as YamlNode | null;
      const keyAt = this.#position(key?.range?.[0] ?? map.range?.[0] ?? 0);
      if (isMergeKey(key)) {
        this.#merge(pair.value as YamlNode | null, path, keyAt, depth, entries);
        continue;
      }
      const name = isScalar(key) ? String(key.value) : undefined;
      if (name === undefined) {
        this.findings.push(
          finding({
            severity: 'warning',
            code: 'CFG-UNKNOWN-KEY',
            path,
            at: keyAt,
            message: 'this key is not a string and is ignored',
          }),
        );
        continue;
      }
      if (own.has(name) && this.#aliasDepth === 0) this.#duplicate(name, path, keyAt);
      own.add(name);
      entries.delete(name);
      entries.set(
        name,
        this.#node(pair.value as YamlNode | null, path === '' ? name : `${path}.${name}`, keyAt, depth + 1),
      );
    }
    return entries;
  }

  #duplicate(name: string, parent: string, at: Position): void {
    const message = `duplicate key ${name}; the last one wins`;
    const path = parent === '' ? name : `${parent}.${name}`;
    this.findings.push(finding({ severity: 'warning', code: 'CFG-DUPLICATE-KEY', path, at, message }));
  }

  /**
   * Merges as the reference's decoder does: merged entries replace entries above and are replaced by entries below. In
   * a list, the first map has the highest priority.
   */
  #merge(source: YamlNode | null, path: string, keyAt: Position, depth: number, into: Map<string, ConfigNode>): void {
    const sources = isSeq(source) ? (source.items as YamlNode[]) : [source];
    const maps = sources.map((each) => this.#node(each, path, keyAt, depth + 1));
    const other = maps.find(({ kind }) => kind !== 'map');
    if (other)
      this.findings.push(
        finding({
          code: 'CFG-YAML',
          path,
          at: other.at,
          message: 'a merge key requires a map or a list of maps',
          hint: 'write <<: *NAME, where &NAME stands before a map',
        }),
      );
    for (const map of maps.toReversed()) for (const [key, node] of map.entries) into.set(key, node);
  }

  #position(offset: number): Position {
    const { line, col } = this.#lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  }
}

/** Each line of a block that is indented with tabs has an error of its own: the first one suffices. */
function withoutRepeatedTabs<T extends { readonly code: string }>(errors: readonly T[]): T[] {
  const first = errors.findIndex(({ code }) => code === TAB);
  return errors.filter(({ code }, index) => code !== TAB || index === first);
}

/** The reference accepts lists and maps in brackets with any indentation. */
function remedy(message: string): string {
  const isFlow = message.startsWith('Flow ');
  return isFlow ? 'indent each line within brackets by more spaces than the key, and use no tabs' : '';
}

/** The unquoted `<<`: the library represents it as a symbol. */
function isMergeKey(key: YamlNode | null): boolean {
  return isScalar(key) && typeof key.value === 'symbol';
}

function isFloat(scalar: Scalar, digits: string): boolean {
  if (typeof scalar !== 'number') return false;
  if (!Number.isInteger(scalar) || Math.abs(scalar) >= MAX_INTEGER) return true;
  return /[.eE]/.test(digits) && !/^[-+]?0x/i.test(digits);
}

function toScalar(value: unknown): Scalar {
  if (typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number' || value === null)
    return value;
  if (typeof value === 'bigint') return Number(value);
  return String(value);
}
