// Lists whose items must differ, in the data of configs.

import t from 'tap';
import { firstError, loadSchemaValidator } from './schema-validator.ts';

const SCHEMA = { type: 'object', properties: { list: { uniqueItems: true }, any: { uniqueItems: false } } };

t.test('equal items are found, whatever their type, with the text of the reference', async (t) => {
  await loadSchemaValidator();
  const error = (list: unknown) => firstError(SCHEMA, { list })?.message;
  t.equal(error(['a', 'b', 'b', 'a']), 'array items[1,2] must be unique');
  t.equal(error([{ x: 1, y: [2, null] }, 1, { y: [2, null], x: 1 }]), 'array items[0,2] must be unique');
  t.equal(error([1, '1', true, 'true', null, 'null', [1], ['1'], {}, []]), undefined);
  t.equal(error('no list'), undefined);
  t.equal(firstError(SCHEMA, { any: [1, 1] }), undefined);
});

t.test('the time for a list grows with its length', async (t) => {
  await loadSchemaValidator();
  const list = Array.from({ length: 50_000 }, (_, index) => ({ low: index, high: index }));
  t.equal(firstError(SCHEMA, { list }), undefined, 'within the time limit of a check');
});
