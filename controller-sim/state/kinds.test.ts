// The descriptions of the kinds of entities.

import t from 'tap';
import { KIND_NAMES, KINDS } from './kinds.ts';

t.test('kinds that administrators configure describe the form of their fields', async (t) => {
  for (const kind of KIND_NAMES) {
    const { fields, isConfigured, unique = [], secrets = [], proofs = {} } = KINDS[kind];
    if (!isConfigured) continue;
    t.ok(fields, kind);
    for (const field of [...unique, ...secrets, ...Object.keys(proofs)])
      t.ok(Object.hasOwn(fields ?? {}, field), `${kind}.${field}`);
  }
});

t.test('the peer data of a terminator is a list of pairs, or an object of older files', async (t) => {
  const check = KINDS.terminator.fields?.peerData;
  t.ok(check);
  for (const value of [
    [],
    [[1, 'YQ==']],
    [
      [1, 'YQ=='],
      [1003, ''],
    ],
    { 1: 'YQ==' },
  ])
    t.equal(check?.(value, 'peerData'), undefined, JSON.stringify(value));
  for (const [value, problem] of [
    [[[1, 'YQ=='], [2]], /^peerData\[1\]\[1\] /],
    [[[1, 'YQ==', 'more']], /^peerData\[0\] is not a pair$/],
    [[['1', 'YQ==']], /^peerData\[0\]\[0\] /],
    [['pair'], /^peerData\[0\]\[0\] /],
    [{ 1: 2 }, /^peerData/],
    ['text', /^peerData/],
  ] as const)
    t.match(check?.(value, 'peerData'), problem, JSON.stringify(value));
});
