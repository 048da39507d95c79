// Fields of bodies under other spellings of their names.

import t from 'tap';
import { spellNames } from './field-names.ts';

const DEFINITIONS = {
  check: {
    allOf: [{ $ref: '#/$defs/base' }],
    type: 'object',
    properties: { systems: { type: 'array', items: { $ref: '#/$defs/system' } } },
  },
  base: { type: 'object', properties: { name: { type: 'string' }, tags: { type: 'object' } } },
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
  ];
  for (const [name, body, expected] of table) {
    spellNames(DEFINITIONS, DEFINITIONS.check, body);
    t.same(body, expected, name);
  }
});

t.test('names of the prototype are not fields', async (t) => {
  const body = JSON.parse('{"Constructor": 1, "__proto__": {"Name": 2}}');
  spellNames(DEFINITIONS, DEFINITIONS.check, body);
  t.same(Object.keys(body), ['Constructor', '__proto__']);
});
