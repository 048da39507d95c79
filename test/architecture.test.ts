// The layers of the house: which import may point where, and what may be used where.

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import t from 'tap';

const ROOT = dirname(import.meta.dirname);
const FOLDERS = ['agent', 'common', 'controller-sim', 'examples', 'schemas', 'bench', 'tools', 'test'];
const ALIASES: Record<string, string> = {
  '#lib/': 'common/lib/',
  '#wire/': 'common/wire/',
  '#model/': 'common/model/',
  '#schemas/': 'schemas/',
};

/** From the ground up: what stands above may import what stands below, never the other way. */
const LAYERS = ['schemas', 'common/lib', 'common/wire', 'common/model', 'room', 'top', 'cli'];

interface SourceFile {
  path: string;
  text: string;
  imports: string[];
}

function sources(): SourceFile[] {
  return FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !file.includes('/gen/'))
      .map((file) => {
        const path = join(folder, file);
        const text = readFileSync(join(ROOT, path), 'utf8');
        return { path, text, imports: importsOf(path, text) };
      }),
  );
}

function importsOf(path: string, text: string): string[] {
  const found = [...text.matchAll(/(?:from|import\() ?'([^']+)'/g), ...text.matchAll(/^import '([^']+)'/gm)];
  return found.flatMap(([, name = '']) => {
    const alias = Object.keys(ALIASES).find((each) => name.startsWith(each));
    if (alias) return [ALIASES[alias] + name.slice(alias.length)];
    return name.startsWith('.') ? [relative(ROOT, join(ROOT, dirname(path), name))] : [];
  });
}

function layerOf(path: string): string {
  for (const layer of LAYERS.slice(0, 4)) if (path.startsWith(`${layer}/`)) return layer;
  if (/^(agent|controller-sim)\/((cli|index)\.ts|commands\/)/.test(path)) return 'cli';
  if (/^(agent\/router|controller-sim\/simulator)\.ts$/.test(path)) return 'top';
  return 'room';
}

const ALL = sources();
const PRODUCT = ALL.filter(
  ({ path }) => /^(agent|common|controller-sim|schemas)\//.test(path) && !path.endsWith('.test.ts'),
);

t.test('imports point downwards only', async (t) => {
  for (const { path, imports } of PRODUCT) {
    const own = LAYERS.indexOf(layerOf(path));
    for (const target of imports) {
      if (target === 'package.json') continue;
      if (LAYERS.indexOf(layerOf(target)) > own) t.fail(`${path} imports ${target}`);
    }
  }
  t.ok(PRODUCT.length > 150);
});

t.test('agent and simulator never import each other, and common imports neither', async (t) => {
  for (const { path, imports } of PRODUCT) {
    const [home] = path.split('/');
    for (const target of imports) {
      const [other] = target.split('/');
      const foreign = (other === 'agent' || other === 'controller-sim') && other !== home;
      if (foreign) t.fail(`${path} imports ${target}`);
    }
  }
  t.ok(ALL.length > PRODUCT.length);
});

t.test('only the clock knows the time, only random.ts and ids.ts make chance', async (t) => {
  const allowed: [RegExp, string[]][] = [
    [/(?<!\.)\bsetTimeout\(|(?<!\.)\bsetInterval\(|\bDate\.now\(/, ['common/lib/clock.ts']],
    [/Math\.random\(|randomUUID\(/, []],
  ];
  for (const { path, text } of PRODUCT) {
    for (const [pattern, files] of allowed)
      if (pattern.test(text) && !files.includes(path)) t.fail(`${path}: ${pattern}`);
  }
  t.pass(`${PRODUCT.length} files`);
});

t.test('every file begins by saying what it is', async (t) => {
  for (const { path, text } of ALL) if (!text.startsWith('//')) t.fail(path);
  t.pass(`${ALL.length} files`);
});

t.test('nothing is left to be done later', async (t) => {
  const words = new RegExp(['TO', 'DO|FIX', 'ME|XX', 'X\\b|not implemented'].join(''), 'i');
  for (const { path, text } of PRODUCT) if (words.test(text)) t.fail(path);
  t.pass(`${PRODUCT.length} files`);
});
