// Reads the text of a seed, YAML or JSON, and finds the line of each value. Size, depth and number of values are
// limited before anything else reads them.

import {
  type Alias,
  Composer,
  type CST,
  type Document,
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  Parser,
} from 'yaml';
import { isNestedDeeper, parseJson } from '#lib/json/json.ts';
import { shown } from '#lib/text/shown-text.ts';
import { withoutStacks } from '#lib/text/without-stacks.ts';
import { MAX_TOKENS } from '#lib/text/yaml-size.ts';
import { MAX_JSON_BYTES } from './max-size.ts';
import { pathText, SeedError, type SeedMistake, type SeedPath } from './mistake.ts';

/** Characters of YAML; as for the bodies of requests. */
const MAX_SEED_BYTES = 1024 * 1024;
/** Values with those behind aliases, which can multiply. */
const MAX_VALUES = 200_000;
/** Values in JSON, and in the object of a program. */
const MAX_JSON_VALUES = 5_000_000;
/** Levels of lists and maps: those of a request, and the section around them. */
const MAX_DEPTH = 104;

export interface SeedSource {
  readonly value: unknown;
  /** The place of a value, or of its nearest known parent. */
  at(path: SeedPath): Pick<SeedMistake, 'path' | 'line' | 'column'>;
}

/** Reads a text in steps. @throws SeedError for text that cannot be read; `file` names it */
export function* readSeedText(text: string, file: string | undefined): Generator<void, SeedSource> {
  const fail = (message: string, offset = 0, lines?: LineCounter): never => {
    const { line, col: column } = lines?.linePos(offset) ?? { line: 1, col: 1 };
    throw new SeedError([{ path: '', line, column, message }], file);
  };
  if (text.length > MAX_SEED_BYTES) {
    const value = text.length > MAX_JSON_BYTES ? undefined : jsonOf(text);
    if (value !== undefined) return readSeedObject(value, file);
    return fail(`the seed has more than ${MAX_SEED_BYTES} characters; write it as JSON, or divide it`);
  }
  if (bracketsNestDeeper(text)) return fail(TOO_DEEP);
  const lines = new LineCounter();
  const parser = new Parser(lines.addNewLine);
  const parts: CST.Token[] = [];
  let document: Document.Parsed | undefined;
  try {
    lines.addNewLine(0);
    let count = 0;
    for (const token of new Lexer().lex(text)) {
      if (++count > MAX_TOKENS) return fail(`the seed has more than ${MAX_TOKENS} parts; divide it`);
      yield void parts.push(...parser.next(token));
    }
    parts.push(...parser.end());
    [document] = withoutStacks(() => [...new Composer(OPTIONS).compose(parts, true, text.length)]);
  } catch (error) {
    if (error instanceof SeedError) throw error;
    return fail(error instanceof RangeError ? TOO_DEEP : 'the text is not YAML');
  }
  if (!document) return fail('the text is not YAML');
  const [error] = document.errors;
  // The parser's own message quotes parts of the text.
  if (error?.code === 'RESOURCE_EXHAUSTION') return fail(TOO_DEEP, error.pos[0], lines);
  if (error) return fail(`this is not YAML: ${error.code.toLowerCase().replaceAll('_', ' ')}`, error.pos[0], lines);
  try {
    const reader = new Reader();
    const value = reader.read(document.contents);
    const place = { contents: document.contents, targets: reader.targets, lines };
    return { value, at: (path) => ({ path: pathText(path), ...placeOf(place, path) }) };
  } catch (thrown) {
    if (thrown instanceof Unreadable) return fail(thrown.message, thrown.offset, lines);
    if (thrown instanceof RangeError) return fail(TOO_DEEP);
    throw thrown;
  }
}

const OPTIONS = {
  uniqueKeys: false, // the reader below checks them; the library compares all with all
  prettyErrors: false,
  logLevel: 'silent',
  // Texts, numbers, booleans and null. Other types of YAML, such as binary data, take long and have no use here.
  schema: 'core',
  resolveKnownTags: false,
} as const;

/** A seed that a program has built. @throws SeedError */
export function readSeedObject(value: unknown, file?: string): SeedSource {
  if (isNestedDeeper(value, MAX_DEPTH)) throw new SeedError([{ path: '', message: TOO_DEEP }], file);
  if (hasMoreValues(value, MAX_JSON_VALUES)) throw new SeedError([{ path: '', message: TOO_MANY_IN_JSON }], file);
  return { value, at: (path) => ({ path: pathText(path) }) };
}

const TOO_MANY = `the seed has more than ${MAX_VALUES} values; divide it`;
const TOO_MANY_IN_JSON = `the seed has more than ${MAX_JSON_VALUES} values; divide it`;
const TOO_DEEP = `the seed is nested deeper than ${MAX_DEPTH} levels`;

/** Undefined for a text that is not JSON. */
function jsonOf(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined; // the caller names the limit on YAML
  }
}

class Unreadable extends Error {
  readonly offset: number;

  constructor(message: string, node: unknown) {
    super(message);
    this.offset = startOf(node) ?? 0;
  }
}

/** Converts nodes to values. */
class Reader {
  /** The nodes behind aliases: the library searches the whole document for each. */
  readonly targets = new Map<Alias, unknown>();
  readonly #anchors = new Map<string, unknown>();
  #count = 0;

  read(contents: unknown): unknown {
    return this.#value(contents, 0);
  }

  #value(node: unknown, depth: number): unknown {
    this.#count += 1;
    if (this.#count > MAX_VALUES) throw new Unreadable(TOO_MANY, node);
    if (depth > MAX_DEPTH) throw new Unreadable(TOO_DEEP, node);
    if (isAlias(node)) {
      if (!this.#anchors.has(node.source)) throw new Unreadable('this alias has no anchor above it', node);
      const target = this.#anchors.get(node.source);
      this.targets.set(node, target);
      return this.#value(target, depth + 1);
    }
    const { anchor } = (node ?? {}) as { anchor?: string };
    if (anchor !== undefined) this.#anchors.set(anchor, node);
    if (isMap(node)) return this.#map(node.items, depth);
    if (isSeq(node)) return node.items.map((each) => this.#value(each, depth + 1));
    if (!isScalar(node)) return null;
    return typeof node.value === 'bigint' ? Number(node.value) : node.value;
  }

  #map(items: readonly unknown[], depth: number): Record<string, unknown> {
    const map = new Map<string, unknown>();
    for (const item of items) {
      if (!isPair(item)) continue;
      const key = keyOf(item.key);
      if (key === undefined) throw new Unreadable('a key has to be a text', item.key);
      if (map.has(key)) throw new Unreadable(`the key ${shown(key)} appears twice in this map`, item.key);
      map.set(key, this.#value(item.value, depth + 1));
    }
    return Object.fromEntries(map);
  }
}

function keyOf(key: unknown): string | undefined {
  return isScalar(key) && (typeof key.value === 'string' || typeof key.value === 'number')
    ? String(key.value)
    : undefined;
}

/** A document in which places are looked up. */
interface Place {
  readonly contents: unknown;
  readonly targets: ReadonlyMap<Alias, unknown>;
  readonly lines: LineCounter;
}

/** The key of a map's value, the item of a list. */
function placeOf({ contents, targets, lines }: Place, path: SeedPath): { line: number; column: number } {
  let node: unknown = contents;
  let offset = startOf(node) ?? 0;
  for (const part of path) {
    const parent: unknown = isAlias(node) ? targets.get(node) : node;
    const [next, at] = childOf(parent, part);
    if (at === undefined) break;
    [node, offset] = [next, at];
  }
  const { line, col: column } = lines.linePos(offset);
  return { line, column };
}

function childOf(parent: unknown, part: string | number): [node: unknown, offset: number | undefined] {
  if (isSeq(parent)) {
    const item = parent.items[Number(part)];
    return [item, startOf(item)];
  }
  const pair = isMap(parent) ? parent.items.find(({ key }) => keyOf(key) === part) : undefined;
  return [pair?.value, startOf(pair?.key)];
}

function startOf(node: unknown): number | undefined {
  return (node as Node | null | undefined)?.range?.[0];
}

/** A recursive parser must not see a bracket bomb. Brackets in texts count, too: no seed has as many open ones. */
function bracketsNestDeeper(text: string): boolean {
  let depth = 0;
  for (const [bracket] of text.matchAll(/[[\]{}]/g)) {
    depth += bracket === '[' || bracket === '{' ? 1 : -1;
    if (depth > 100 * MAX_DEPTH) return true;
  }
  return false;
}

/** Whether there are more values than `limit`, with those within others. */
export function hasMoreValues(value: unknown, limit: number): boolean {
  const waiting: unknown[] = [value];
  let count = 0;
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (++count > limit) return true;
    if (typeof next === 'object' && next !== null) for (const each of Object.values(next)) waiting.push(each ?? null);
  }
  return false;
}
