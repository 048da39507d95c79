// Sources take turns, and the event loop goes on.

import t from 'tap';
import { FairTurns } from './fair-turns.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Tasks take a millisecond each, of a clock of their own. */
function rooms() {
  let time = 0;
  const done: string[] = [];
  const turns = new FairTurns(() => time);
  const add = (source: string, name: string) =>
    turns.run(source, () => {
      time++;
      done.push(name);
    });
  return { add, done };
}

t.test('a lone task runs at once', async (t) => {
  const { add, done } = rooms();
  for (const name of ['1', '2', '3']) {
    add('a', name);
    t.equal(done.at(-1), name);
    await turn();
  }
});

t.test('a source with many tasks waits for those of others', async (t) => {
  const { add, done } = rooms();
  for (let index = 0; index < 20; index++) add('stranger', `s${index}`);
  add('admin', 'a0');
  add('admin', 'a1');
  t.same(done, ['s0'], 'the others wait');
  for (let count = 0; count < 4; count++) await turn();
  t.same(done, ['s0', 's1', 'a0', 's2', 'a1'], 'one in each turn of the event loop');
  add('other', 'o');
  await turn();
  await turn();
  t.equal(done.indexOf('o'), 6);
  while (done.length < 23) await turn();
  t.equal(new Set(done).size, 23);
});
