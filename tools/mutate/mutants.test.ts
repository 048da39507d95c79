// The places that a mutation changes, and the tests that are near them.

import t from 'tap';
import { ROOT } from '../commands.ts';
import { mutantsOf, mutated } from './mutants.ts';
import { ImportGraph } from './nearest-tests.ts';

const changes = (text: string) => mutantsOf(text).map(({ line, from, to }) => `${line} ${from} → ${to}`);

t.test('operators, numbers, truth values and whole statements are changed, types are not', async (t) => {
  t.same(changes('const a: Map<string, number> = b < 1_000 && !c;'), [
    '1 < → <=',
    '1 1_000 → 1001',
    '1 && → ||',
    '1 ! → ',
  ]);
  t.same(changes('function f<T>(a: T) {\n  this.#timer?.cancel();\n  return a === true;\n}'), [
    '2 this.#timer?.cancel(); → ;',
    '3 === → !==',
    '3 true → false',
  ]);
});

t.test('texts, templates, comments and regular expressions are not changed, what is inside templates is', async (t) => {
  t.same(changes("f('a + b', /a+b<c/); // 1 + 2\n/* a < b */ g(`x + ${{ y: a - b }.y} + z ${c} * 2`);"), ['2 - → +']);
  t.same(changes('h((a + b) / c);'), ['1 + → -', '1 / → *']);
});

t.test('a mutant changes its place only', async (t) => {
  const text = 'const a: number = b + c + 1;';
  t.same(
    mutantsOf(text).map((mutant) => mutated(text, mutant)),
    ['const a: number = b - c + 1;', 'const a: number = b + c - 1;', 'const a: number = b + c + 2;'],
  );
});

t.test('the nearest tests come first, through names of folders too', async (t) => {
  const graph = new ImportGraph(ROOT);
  t.equal(graph.testsOf('tools/mutate/mutants.ts', 3)[0], 'tools/mutate/mutants.test.ts');
  t.ok(graph.testsOf('common/wire/path/loss-watch.ts', 1).includes('common/wire/path/loss-watch.test.ts'));
  const far = graph.testsOf('controller-sim/network/terminator-choice.ts', 12);
  t.equal(far.length, 12);
  t.ok(far.includes('controller-sim/network/circuits.test.ts'));
});
