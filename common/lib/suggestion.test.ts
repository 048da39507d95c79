// Suggestions for unknown words.

import t from 'tap';
import { didYouMean, suggest } from './suggestion.ts';

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
