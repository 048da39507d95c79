// Schemas of config types, and the data of configs: the same results as with a library, and a bound on the steps.

import { Ajv } from 'ajv';
import fc from 'fast-check';
import t from 'tap';
import { ApiError } from '../errors/errors.ts';
import { builtInConfigTypes } from './built-in.ts';
import { firstError, loadSchemaValidator, requireSchema } from './schema-validator.ts';

await loadSchemaValidator();

function reasonOf(work: () => unknown): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    if (!(error instanceof ApiError) || !error.details || !('reason' in error.details)) throw error;
    return error.details.reason;
  }
}

/** The rejection of a schema; undefined if it is accepted. */
function rejection(schema: object): string | undefined {
  return reasonOf(() => requireSchema(schema as never));
}

t.test('each keyword finds the first violation, with its place', async (t) => {
  const table: [schema: object, data: unknown, instancePath?: string, message?: string | RegExp][] = [
    [{ type: 'integer' }, 5],
    [{ type: 'integer' }, 5.5, '', 'must be integer'],
    [{ type: ['string', 'null'] }, null],
    [{ type: ['string', 'null'] }, [], '', 'must be string,null'],
    [{ maximum: 5 }, 6, '', 'must be <= 5'],
    [{ exclusiveMinimum: 5 }, 5, '', 'must be > 5'],
    [{ multipleOf: 0.5 }, 1.5],
    [{ multipleOf: 0.1 }, 1.1],
    [{ multipleOf: 0.01 }, 19.99],
    [{ multipleOf: 0.1 }, 1.15, '', 'must be multiple of 0.1'],
    [{ multipleOf: 5e-324 }, 1.5e308],
    [{ multipleOf: 3 }, 1e308, '', 'must be multiple of 3'],
    [{ multipleOf: 2 }, 3, '', 'must be multiple of 2'],
    [{ maxLength: 1 }, '😀'],
    [{ minLength: 2 }, '😀', '', 'must NOT have fewer than 2 characters'],
    [{ pattern: '^[a-z]+$' }, 'A', '', 'must match pattern "^[a-z]+$"'],
    [{ format: 'ipv4' }, '1.2.3', '', 'must match format "ipv4"'],
    [{ format: 'unknown' }, '1.2.3'],
    [{ const: { a: [1] } }, { a: [1] }],
    [{ const: { a: [1] } }, { a: [2] }, '', 'must be equal to constant'],
    [{ enum: [{ b: 1, a: 2 }, 'x'] }, { a: 2, b: 1 }],
    [{ enum: ['1'] }, 1, '', 'must be equal to one of the allowed values'],
    [{ not: { type: 'string' } }, 'a', '', 'must NOT be valid'],
    [{ anyOf: [{ type: 'string' }, { minimum: 5 }] }, 4, '', 'must be string'],
    [{ oneOf: [{ minimum: 1 }, { minimum: 2 }] }, 3, '', 'must match exactly one schema in oneOf'],
    [{ oneOf: [{ minimum: 1 }, { minimum: 2 }] }, 1],
    [{ allOf: [{ minimum: 1 }, { maximum: 2 }] }, 3, '', 'must be <= 2'],
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    [{ if: { minimum: 5 }, then: { multipleOf: 2 } }, 7, '', 'must match "then" schema'],
    [{ if: { minimum: 5 }, else: { multipleOf: 2 } }, 3, '', 'must match "else" schema'],
    [{ if: { minimum: 5 } }, 3],
    [{ items: { type: 'string' } }, ['a', 1], '/1', 'must be string'],
    [{ items: [{ type: 'string' }], additionalItems: { type: 'number' } }, ['a', 'b'], '/1', 'must be number'],
    [{ items: [true], additionalItems: false }, [1, 2], '', 'must NOT have more than 1 items'],
    [{ maxItems: 1 }, [1, 2], '', 'must NOT have more than 1 items'],
    [{ contains: { minimum: 5 } }, [1, 6]],
    [{ contains: { minimum: 5 } }, [], '', 'must contain at least 1 valid item(s)'],
    [
      { uniqueItems: true },
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
      '',
      'array items[0,1] must be unique',
    ],
    [{ required: ['toString'] }, {}, '', "must have required property 'toString'"],
    [{ minProperties: 1 }, {}, '', 'must NOT have fewer than 1 properties'],
    [{ propertyNames: { maxLength: 1 } }, { ab: 1 }, '', 'must NOT have more than 1 characters'],
    [{ properties: { a: false } }, { a: 1 }, '/a', 'boolean schema is false'],
    [{ properties: { 'a/~': { type: 'null' } } }, { 'a/~': 1 }, '/a~1~0', 'must be null'],
    [
      { additionalProperties: false, properties: { a: {} }, patternProperties: { '^x': {} } },
      { a: 1, x1: 2 },
    ],
    [{ additionalProperties: false }, { a: 1 }, '', 'must NOT have additional properties'],
    [{ patternProperties: { '^x': { type: 'null' } } }, { x1: 2 }, '/x1', 'must be null'],
    [{ dependencies: { a: ['b'] } }, { a: 1 }, '', 'must have property b when property a is present'],
    [{ dependencies: { a: { required: ['c'] } } }, { a: 1 }, '', "must have required property 'c'"],
    [{ definitions: { 'a b': { type: 'null' } }, $ref: '#/definitions/a%20b' }, 1, '', 'must be null'],
    [{ definitions: { a: { $id: '#a', type: 'null' } }, items: { $ref: '#a' } }, [1], '/0', 'must be null'],
    [{ items: { $ref: '#' }, type: 'array' }, [[[1]]], '/0/0/0', 'must be array'],
  ];
  for (const [schema, data, instancePath, message] of table) {
    t.equal(rejection(schema), undefined, JSON.stringify(schema));
    const expected = message === undefined ? undefined : { instancePath, message, data: Object };
    const found = firstError(schema as never, data);
    t.match(
      found && { instancePath: found.instancePath, message: found.message },
      expected && { instancePath, message },
      JSON.stringify([schema, data]),
    );
  }
});

t.test('a schema that is invalid is rejected with the place', async (t) => {
  const table: [schema: object, reason: string | RegExp][] = [
    [{ type: 'no type' }, 'schema is invalid: data/type must be equal to one of the allowed values'],
    [{ properties: { a: { minimum: 'x' } } }, 'schema is invalid: data/properties/a/minimum must be number'],
    [{ $ref: '#/definitions/a' }, "can't resolve reference #/definitions/a from id #"],
    [{ $ref: 'http://127.0.0.1/' }, "can't resolve reference http://127.0.0.1/ from id #"],
    [{ pattern: '(?=a)' }, 'error parsing regexp: invalid or unsupported Perl syntax: `(?=`'],
    [{ items: { patternProperties: { '(': {} } } }, 'error parsing regexp: missing closing ): `(`'],
    [
      { items: Array.from({ length: 5 }, (_, index) => ({ pattern: `${index}`.repeat(450) })) },
      /more than 2048 characters/,
    ],
    [{ pattern: '((a{100}){100}){100}' }, /invalid repeat count/],
  ];
  for (const [schema, reason] of table) t.match(rejection(schema), reason, JSON.stringify(schema).slice(0, 100));
  t.equal(rejection({ properties: { pattern: { type: 'string' } }, const: { pattern: '(' } }), undefined);
});

/** A chain of definitions, each of which refers to the next one twice. */
function bomb(length: number): object {
  const link = (index: number) => ({ $ref: `#/definitions/d${index}` });
  const definitions = Object.fromEntries(
    Array.from({ length }, (_, index) => [`d${index}`, { allOf: [link(index + 1), link(index + 1)] }]),
  );
  return { definitions: { ...definitions, [`d${length}`]: {} }, ...link(0) };
}

t.test('the steps of a check are bounded, whatever the schema makes of the data', async (t) => {
  const list = Array.from({ length: 1_000 }, (_, index) => ({ index }));
  const nested = JSON.parse(`${'{"a":'.repeat(30)}1${'}'.repeat(30)}`) as object;
  const twice = { properties: { a: { $ref: '#' } } };
  const table: Record<string, [schema: object, data: unknown, reason: string]> = {
    'definitions that double': [bomb(40), {}, 'its schema needs too many steps for it'],
    'recursion that doubles with each level of the data': [
      { allOf: [twice, twice] },
      nested,
      'its schema needs too many steps for it',
    ],
    'a schema that is itself': [{ $ref: '#' }, {}, 'its schemas refer to each other more than 1000 times'],
    'all items with all values': [
      { items: { not: { enum: Array.from({ length: 1_000 }, (_, index) => ({ other: index })) } } },
      list,
      'its schema needs too many steps for it',
    ],
    'all names with all expressions': [
      { patternProperties: Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`^(x+x+)+${index}`, {}])) },
      Object.fromEntries(list.map((_, index) => [`${'x'.repeat(30)}${index}`, 1])),
      'its schema needs too many steps for it',
    ],
    'a large expression with a long text': [
      { pattern: '(x{0,20}y?){20}z' },
      'x'.repeat(10_000),
      'its schema needs too many steps for it',
    ],
    'an unresolvable reference behind a reference': [
      { $ref: '#/x', x: { $ref: '#/y' } },
      {},
      "can't resolve reference #/y from id #",
    ],
  };
  for (const [name, [schema, data, reason]] of Object.entries(table)) {
    t.equal(rejection(schema), undefined, name);
    const found = reasonOf(() => firstError(schema as never, data));
    t.equal(found, `(root) is invalid: (root): the data cannot be checked: ${reason}`, name);
  }
  t.match(firstError({ pattern: '^(a+)+$' }, `${'a'.repeat(1_000)}!`), { keyword: 'pattern' });
});

t.test('each step does a bounded amount of work: what takes long needs many of them', async (t) => {
  /** Applies a schema 1,024 times. */
  const often = (schema: object, keyword = 'anyOf'): object => {
    const definitions: Record<string, object> = { d0: schema };
    for (let index = 1; index <= 10; index++) {
      const link = { $ref: `#/definitions/d${index - 1}` };
      definitions[`d${index}`] = { [keyword]: [link, link] };
    }
    return { definitions, $ref: '#/definitions/d10' };
  };
  const names = Array.from({ length: 5_000 }, (_, index) => `k${index}`);
  const wide = Object.fromEntries(names.map((name) => [name, 1]));
  const longName = 'x'.repeat(100_000);
  const expressions = Array.from({ length: 300 }, (_, index) => ({ pattern: `(?i)[\\pL_]{1,20}${index}` }));
  const links = expressions.map((_, index) => ({ $ref: `#/x/${index}` }));
  const table: Record<string, [schema: object, data: unknown]> = {
    'additional properties': [often({ additionalProperties: false }), wide],
    'names of properties': [often({ propertyNames: false }), wide],
    'properties that match': [often({ patternProperties: { '^k': false } }), wide],
    'properties of the schema': [
      often({ properties: Object.fromEntries(names.map((name, index) => [name, index > 0])) }),
      { k0: 1 },
    ],
    'dependencies of the schema': [
      often({ dependencies: Object.fromEntries(names.map((name, index) => [name, index > 0])) }),
      { k0: 1 },
    ],
    'long names that are compared': [often({ const: 1 }), { [longName]: 1 }],
    'long names in the place of a violation': [
      {
        ...often({ anyOf: [{ type: 'string' }, {}] }, 'allOf'),
        $ref: '#/x',
        x: { additionalProperties: { $ref: '#/definitions/d10' } },
      },
      { [longName]: 1 },
    ],
    'expressions behind references': [{ x: expressions, anyOf: links }, 'a'],
  };
  for (const [name, [schema, data]] of Object.entries(table)) {
    t.equal(rejection(schema), undefined, name);
    t.match(reasonOf(() => firstError(schema as never, data)) ?? 'checked', /too many steps/, name);
  }
  t.match(firstError(often({ not: { type: 'string' } }) as never, 'a'), { keyword: 'not' });
});

t.test('a schema that no rule has checked, behind a reference, is applied as far as it is one', async (t) => {
  const unchecked = [
    { required: [{ toString: 1 }] },
    { format: { toString: 1 } },
    { dependencies: { a: [{ toString: 1 }] } },
  ];
  for (const x of unchecked) {
    const schema = { x, properties: { a: { $ref: '#/x' } }, $ref: '#/x' };
    t.equal(rejection(schema), undefined);
    t.equal(firstError(schema, { a: 'b' }), undefined, JSON.stringify(x));
  }
});

t.test('large data of built-in config types is checked', async (t) => {
  const types = new Map(builtInConfigTypes((id) => ({ id }) as never).map(({ name, schema }) => [name, schema]));
  const addresses = Array.from(
    { length: 10_000 },
    (_, index) => `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`,
  );
  const portRanges = Array.from({ length: 5_000 }, (_, index) => ({ low: index, high: index }));
  const data = { protocols: ['tcp'], addresses, portRanges };
  t.equal(firstError(types.get('intercept.v1') as never, data), undefined);
  t.match(firstError(types.get('host.v1') as never, {}), { keyword: 'if', params: { failingKeyword: 'else' } });
});

t.test('random schemas accept the same data as a library does', async (t) => {
  const value = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom(null, true, 0, 1, 2, 1.5, '', 'a', 'ab', '1.2.3.4'),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('value'), { maxKeys: 3 }),
    ),
  })).value;
  const data = value.map((each) => JSON.parse(JSON.stringify(each)) as unknown);
  const optional = { requiredKeys: [] };
  // Without `contains`: the library takes an earlier result for that of an empty list.
  const { schema } = fc.letrec((tie) => {
    const any = tie('schema');
    const lists = fc.array(any, { minLength: 1, maxLength: 3 });
    const map = fc.dictionary(fc.constantFrom('a', 'b', 'c'), any, { maxKeys: 3 });
    const names = fc.uniqueArray(fc.constantFrom('a', 'b', 'c'), { maxLength: 2 });
    return {
      schema: fc.oneof(
        { maxDepth: 3 },
        fc.boolean(),
        fc.record({ type: fc.constantFrom('null', 'boolean', 'object', 'array', 'number', 'string', 'integer') }),
        fc.record({ minimum: fc.nat(2), exclusiveMaximum: fc.nat(2), multipleOf: fc.constantFrom(1, 2) }, optional),
        fc.record(
          { maxLength: fc.nat(2), pattern: fc.constantFrom('a', '^b', 'a|b'), format: fc.constant('ipv4') },
          optional,
        ),
        fc.record(
          { enum: fc.uniqueArray(data, { minLength: 1, maxLength: 3, selector: JSON.stringify }), const: data },
          optional,
        ),
        fc.record({ items: fc.oneof(any, lists), additionalItems: any, uniqueItems: fc.boolean() }, optional),
        fc.record({ maxItems: fc.nat(2), minProperties: fc.nat(2) }, optional),
        fc.record(
          { properties: map, additionalProperties: any, patternProperties: fc.record({ '^a': any }) },
          optional,
        ),
        fc.record(
          { required: names, propertyNames: any, dependencies: fc.record({ a: fc.oneof(any, names) }) },
          optional,
        ),
        // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
        fc.record({ if: any, then: any, else: any, not: any }, optional),
        fc.record({ anyOf: lists, oneOf: lists, allOf: lists }, optional),
        fc.constantFrom({ $ref: '#/definitions/x' }, { properties: { a: { $ref: '#' } } }),
      ),
    };
  });
  const property = fc.property(schema, schema, fc.array(data, { minLength: 1, maxLength: 5 }), (root, x, values) => {
    const isEndless = JSON.stringify(x) === '{"$ref":"#/definitions/x"}';
    const whole = {
      definitions: { x: isEndless || x },
      ...(typeof root === 'boolean' ? { not: !root } : (root as object)),
    };
    const ajv = new Ajv({ strict: false, logger: false, formats: { ipv4: /^[\d.]{7,}$/ } });
    const isValid = ajv.compile(whole);
    t.equal(rejection(whole), undefined);
    for (const value of values) {
      try {
        if (isValid(value) !== (firstError(whole as never, value) === undefined)) return false;
      } catch {
        // The schema refers to itself forever.
      }
    }
    return true;
  });
  fc.assert(property, { numRuns: 300 });
});
