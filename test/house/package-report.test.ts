// The report of the package's interface: it is up to date, and contains what is exported and reachable, without
// internals.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { withDeclarations } from '../../tools/generate/declarations.ts';
import { LAB_INTERFACE, labInterface } from '../../tools/generate/lab-interface.ts';
import { generatePackageReport, packageReport } from '../../tools/generate/package-report.ts';

const ROOT = join(import.meta.dirname, '../..');

/** Functions that only the programs use. */
const INTERNAL = ['prepareSeed', 'takeStart', 'forRequest', 'forMessage', 'returnTo', 'hasListeners', 'emit', 'attach'];

t.test('the report matches the types; run `npm run generate` if this fails, and review the change', async (t) => {
  const [lab, [path, content]] = withDeclarations((read) => [labInterface(read), generatePackageReport(read)] as const);
  t.equal(lab, readFileSync(join(ROOT, `${LAB_INTERFACE}.ts`), 'utf8'), LAB_INTERFACE);
  t.equal(content, readFileSync(join(ROOT, path), 'utf8'), path);
  for (const name of INTERNAL) t.notMatch(content, new RegExp(`\\b${name}\\(`), name);
  t.match(content, /describe\(\): RouterDescription;/);
});

t.test('a report follows imports, exports and stars, and shows the names of tables', async (t) => {
  const files: Readonly<Record<string, string>> = {
    entry: `import { type Inner as Renamed } from './inner.ts';
/** A comment. */
export interface Outer {
    /** Another one. */
    readonly inner: Renamed;
    readonly row: Row;
}
export type * from './star.ts';
export { other as visible } from './inner.ts';
type Row = keyof typeof TABLE;
declare const TABLE: {
    readonly first: Hidden;
    'second-one': Hidden;
};
interface Hidden {
}
`,
    inner: `// A file.
export interface Inner {
    readonly name: '{ not a brace';
}
export declare function other(a: string): void;
export declare function other(a: number): void;
export interface Unused {
}
`,
    star: 'export type Star = readonly string[];\n',
  };
  const report = packageReport((file) => files[file] ?? '', { 'own/path': 'entry' });
  const [exported = '', behind = ''] = [...report.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, text]) => text);
  t.equal(
    exported,
    `interface Outer {
  readonly inner: Renamed;
  readonly row: Row;
}
type Star = readonly string[];
function other(a: string): void;
function other(a: number): void; // exported as visible
`,
  );
  t.equal(
    behind,
    `interface Inner {
  readonly name: '{ not a brace';
}
type Row = 'first' | 'second-one';
`,
  );
});
