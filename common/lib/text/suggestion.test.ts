// Suggestions for unknown words.

import t from 'tap';
import { callsOf } from '../../../test/support/hostile/call-counter.ts';
import { didYouMean, meantOrKnown, suggest } from './suggestion.ts';

t.test('the nearest word is suggested if it is at most two typing mistakes away', async (t) => {
  const table: [word: string, meant: string | undefined][] = [
    ['pasword', 'password'],
    ['PASSWORD', 'password'],
    ['passwrod', 'password'],
    ['hots', 'host'],
    ['port', 'port'],
    ['prt', 'port'],
    ['xyz', undefined],
    ['passphrase', undefined],
    ['', undefined],
  ];
  for (const [word, meant] of table) t.equal(suggest(word, ['host', 'port', 'password']), meant, word);
});

t.test('a suggestion is a question, and empty if no word is near', async (t) => {
  t.equal(didYouMean('prot', ['host', 'port']), 'did you mean port?');
  t.equal(didYouMean('database', ['host', 'port']), '');
});

t.test('two swapped letters are one mistake, and mistakes may be anywhere', async (t) => {
  const table: [string, string, boolean][] = [
    ['abcdef', 'badcef', true],
    ['abcdef', 'bacdfe', true],
    ['abcdef', 'xabcdefx', true],
    ['abcdef', 'abcd', true],
    ['abcdef', 'xyabcdefz', false],
    ['abcdef', 'defabc', false],
    ['aaaaaa', 'bbaaaa', true],
    ['aaaaaa', 'bbbaaa', false],
  ];
  for (const [word, candidate, isNear] of table)
    t.equal(suggest(word, [candidate]), isNear ? candidate : undefined, word);
});

t.test('no word, and no number of candidates, makes a search long', async (t) => {
  t.equal(suggest('x'.repeat(30_000), ['x'.repeat(30_000)]), undefined, 'nobody types such a word');
  const word = 'x'.repeat(100);
  let seen = 0;
  const candidates = function* () {
    for (; seen < 1_000_000; seen++) yield `${'x'.repeat(98)}yz`;
  };
  suggest(word, candidates());
  t.ok(seen < 5_000, `${seen} candidates`);
  const calls = async (length: number) =>
    (await callsOf(() => suggest('x'.repeat(length), ['x'.repeat(length - 1)]))).total;
  t.ok((await calls(80)) < 6 * (await calls(20)), 'only near places are compared');
});

t.test('a name of several candidates is listed once', async (t) => {
  t.equal(meantOrKnown('nobody', ['anna', 'edge-1', 'edge-1']), 'known are anna, edge-1');
  t.equal(meantOrKnown('nobody', ['anna', 'edge-1', 'edge-1'], 2), 'known are anna, edge-1');
  t.equal(meantOrKnown('nobody', ['anna', 'edge-1'], 1), 'there are 2');
});
