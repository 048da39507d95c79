// The test files that probably execute a place of a source file: the nearest by the number of imports between them, and
// those that have rare words in common with it. Tests through a port or a program import nothing of what they execute.

import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

const SOURCES = '{agent,bench,common,controller-sim,entry,examples,schemas,test,testbed,tools}/**/*.ts';
const IMPORT = /\b(?:from|import)\s*\(?\s*'((?:\.|#)[^']+)'/g;
const TEST_FILE = /\.test\.ts$/;

export class ImportGraph {
  /** Each file with those that import it. */
  readonly #importers = new Map<string, string[]>();

  constructor(root: string) {
    const { imports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { imports: object };
    const aliases = Object.entries(imports).map(([from, to]) => [from.replace('*', ''), to.replace('*', '')] as const);
    for (const file of globSync(SOURCES, { cwd: root }))
      for (const [, name = ''] of readFileSync(join(root, file), 'utf8').matchAll(IMPORT)) {
        const [from, to] = aliases.find(([alias]) => name.startsWith(alias)) ?? ['', `${dirname(file)}/`];
        const target = normalize(to + name.slice(from.length));
        this.#importers.set(target, [...(this.#importers.get(target) ?? []), file]);
      }
  }

  /** At most `max` test files. Those with the same distance are in the order of their scores, then of the alphabet. */
  testsOf(file: string, max: number, scores: ReadonlyMap<string, number> = new Map()): string[] {
    const scoreOf = (test: string) => scores.get(test) ?? 0;
    const seen = new Set([file]);
    const tests: string[] = [];
    for (let layer = [file]; layer.length > 0 && tests.length < max; ) {
      const next = [...new Set(layer.flatMap((each) => this.#importers.get(each) ?? []))].filter(
        (each) => !seen.has(each),
      );
      for (const each of next) seen.add(each);
      const found = next.filter((each) => TEST_FILE.test(each)).toSorted();
      tests.push(...found.sort((a, b) => scoreOf(b) - scoreOf(a)));
      layer = next.filter((each) => !TEST_FILE.test(each));
    }
    return tests.slice(0, max);
  }
}

/** Characters of a word that counts, and the share of the test files that may have it. */
const WORD = /[A-Za-z]\w{4,}/g;
const MAX_SHARE = 0.1;
/** Lines before and after the place. */
const AROUND = 12;
/** Generated pages have the values of constants that the table names; this test compares them. */
const LIMITS_TABLE = 'schemas/limits.tsv';
export const LIMITS_TEST = 'test/house/generated.test.ts';
const CONSTANT = /^(?:export )?const ([A-Z][A-Z0-9_]+) =/;

export class TestWords {
  /** The test files of each word. */
  readonly #tests = new Map<string, string[]>();
  readonly #maxTests: number;
  readonly #limits: string;

  constructor(root: string) {
    this.#limits = readFileSync(join(root, LIMITS_TABLE), 'utf8');
    const files = globSync(SOURCES, { cwd: root }).filter((file) => TEST_FILE.test(file));
    this.#maxTests = files.length * MAX_SHARE;
    for (const file of files)
      for (const word of wordsOf(`${file} ${readFileSync(join(root, file), 'utf8')}`))
        this.#tests.set(word, [...(this.#tests.get(word) ?? []), file]);
  }

  /**
   * Scores of test files for a line (from 1) of a source, the highest first: the rarer the common words, the higher.
   * Names of folders and files count too.
   */
  scoresOf({ file, text, line }: { file: string; text: string; line: number }): Map<string, number> {
    const lines = text.split('\n');
    const [, constant] = CONSTANT.exec(lines[line - 1] ?? '') ?? [];
    if (constant !== undefined && this.#limits.includes(`\t${file} ${constant}`)) return new Map([[LIMITS_TEST, 1]]);
    const scores = new Map<string, number>();
    const near = lines.slice(Math.max(0, line - 1 - AROUND), line + AROUND).join('\n');
    for (const word of wordsOf(`${file} ${near}`)) {
      const tests = this.#tests.get(word) ?? [];
      if (tests.length <= this.#maxTests)
        for (const test of tests) scores.set(test, (scores.get(test) ?? 0) + 1 / tests.length);
    }
    return new Map([...scores].toSorted(([a, scoreA], [b, scoreB]) => scoreB - scoreA || (a < b ? -1 : 1)));
  }
}

function wordsOf(text: string): Set<string> {
  return new Set(text.match(WORD));
}
