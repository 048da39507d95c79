// Inspected values of routers: empty fields, and values of the wrong type.

import fc from 'fast-check';
import t from 'tap';
import { Fields, RouterValueError } from './router-values.ts';

const READERS = {
  text: (fields: Fields, key: string) => fields.text(key),
  flag: (fields: Fields, key: string) => fields.flag(key),
  count: (fields: Fields, key: string) => fields.count(key),
  texts: (fields: Fields, key: string) => fields.texts(key),
  list: (fields: Fields, key: string) => fields.list(key).length,
  map: (fields: Fields, key: string) => fields.map(key).size,
  textMap: (fields: Fields, key: string) => fields.textMap(key),
};

t.test('missing fields and null are empty', async (t) => {
  const empty = { text: '', flag: false, count: 0, texts: [], list: 0, map: 0, textMap: {} };
  for (const value of [{}, { x: null }])
    for (const [name, read] of Object.entries(READERS))
      t.same(read(new Fields(value, 'value'), 'x'), empty[name as keyof typeof empty], name);
  t.equal(new Fields({}, 'value').text('constructor'), '', 'only own fields are read');
});

t.test('fields are read by their types', async (t) => {
  const fields = new Fields(
    {
      text: 'a',
      flag: true,
      count: 3,
      texts: ['a'],
      list: [{ id: 'b' }],
      map: { k: { id: 'c' } },
      textMap: { k: 'v' },
    },
    'value',
  );
  t.same([fields.text('text'), fields.flag('flag'), fields.count('count')], ['a', true, 3]);
  t.same([fields.texts('texts'), fields.textMap('textMap')], [['a'], { k: 'v' }]);
  t.equal(fields.list('list')[0]?.text('id'), 'b');
  t.equal(fields.map('map').get('k')?.text('id'), 'c');
});

t.test('values of the wrong type are rejected with the name of the field', async (t) => {
  t.throws(() => new Fields([], 'links'), { message: 'links is not an object' });
  t.throws(() => new Fields({ x: 1 }, 'links').text('x'), { message: 'links.x is not a string' });
  t.throws(() => new Fields({ x: [1] }, 'links').texts('x'), { message: 'links.x is not a list of texts' });
  t.throws(() => new Fields({ x: [[]] }, 'links').list('x'), { message: 'links.x is not an object' });
  t.throws(() => new Fields({ x: { y: 1 } }, 'links').textMap('x'), { message: 'links.x is not a map of texts' });
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(...Object.values(READERS)), (value, read) => {
      try {
        read(new Fields({ x: value }, 'value'), 'x');
      } catch (error) {
        if (!(error instanceof RouterValueError)) throw error;
      }
    }),
  );
  t.pass();
});
