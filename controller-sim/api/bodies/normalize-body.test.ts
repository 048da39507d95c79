// Bodies in other forms than their types declare: other spellings of names, nulls in lists.

import t from 'tap';
import { normalizeBody } from './normalize-body.ts';

const DEFINITIONS = {
  check: {
    allOf: [{ $ref: '#/$defs/base' }],
    type: 'object',
    properties: { systems: { type: 'array', items: { $ref: '#/$defs/system' } } },
  },
  base: {
    type: 'object',
    properties: {
      name: { type: 'string' },
      roles: { type: 'array', items: { type: 'string' } },
      tags: { type: 'object' },
    },
  },
  system: { type: 'object', properties: { osType: { type: 'string' } } },
};

t.test('fields get the names of the schema, whatever their case', async (t) => {
  const table: [name: string, body: unknown, expected: unknown][] = [
    ['an exact name stays', { name: 'a' }, { name: 'a' }],
    [
      'another case is renamed, in lists and definitions too',
      { Name: 'a', SYSTEMS: [{ OsType: 'b' }] },
      { name: 'a', systems: [{ osType: 'b' }] },
    ],
    ['the exact name wins', { name: 'a', Name: 'b' }, { name: 'a', Name: 'b' }],
    [
      'unknown fields and the content of free maps stay',
      { Other: 1, tags: { Name: 2 } },
      { Other: 1, tags: { Name: 2 } },
    ],
    ['values of other types stay', { Systems: 'none' }, { systems: 'none' }],
    ['null stays', null, null],
    ['a null in a list of texts is an empty text', { roles: ['a', null] }, { roles: ['a', ''] }],
    [
      'other lists and free maps keep it',
      { systems: [null], tags: { list: [null] } },
      { systems: [null], tags: { list: [null] } },
    ],
  ];
  for (const [name, body, expected] of table) {
    normalizeBody(DEFINITIONS, DEFINITIONS.check, body);
    t.same(body, expected, name);
  }
});

t.test('names of the prototype are not fields', async (t) => {
  const body = JSON.parse('{"Constructor": 1, "__proto__": {"Name": 2}}');
  normalizeBody(DEFINITIONS, DEFINITIONS.check, body);
  t.same(Object.keys(body), ['Constructor', '__proto__']);
});
