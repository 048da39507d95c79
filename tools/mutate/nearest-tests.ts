// The test files that execute a source file, nearest first: by the number of imports between them.

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

  /** At most `max` test files. Those with the same distance are in alphabetical order, the unit tests first. */
  testsOf(file: string, max: number): string[] {
    const seen = new Set([file]);
    const tests: string[] = [];
    for (let layer = [file]; layer.length > 0 && tests.length < max; ) {
      const next = [...new Set(layer.flatMap((each) => this.#importers.get(each) ?? []))].filter(
        (each) => !seen.has(each),
      );
      for (const each of next) seen.add(each);
      tests.push(...next.filter((each) => TEST_FILE.test(each)).toSorted());
      layer = next.filter((each) => !TEST_FILE.test(each));
    }
    return tests.slice(0, max);
  }
}
