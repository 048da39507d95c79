// Generates the function that validates a configuration against schemas/config/router.schema.json. Ajv needs 0.2 s to
// compile this schema, which is half the run time of most commands of the router.

import { _, type Options } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import standalone from 'ajv/dist/standalone/index.js';
import type { ConfigSchema } from '../../schemas/config/schema.ts';

const OPTIONS: Options = {
  allErrors: true,
  messages: false,
  strict: false,
  strictNumbers: true, // .nan and .inf are not usable numbers
  discriminator: true,
  allowUnionTypes: true,
  meta: false, // its compilation would change the names in the code; test/house/generated.test.ts validates the schema
  validateSchema: false,
  // Lines keep the differences between two versions readable.
  code: { source: true, esm: true, lines: true, formats: _`formats` },
};
/** Ajv writes this even for ES modules. */
const LENGTH = 'require("ajv/dist/runtime/ucs2length").default';
const DECLARATION = `import type { ValidateFunction } from 'ajv';

export declare function makeValidator(
  schema: object,
  formats: Readonly<Record<string, (text: string) => boolean>>,
): ValidateFunction;
`;

/** Path (relative to the project) → content of the module and its types. */
export function generateValidator(root: ConfigSchema): [path: string, content: string][] {
  const ajv = new Ajv2020(OPTIONS);
  for (const name of formatsOf(root)) ajv.addFormat(name, () => true);
  const code = standalone.default(ajv, ajv.compile(root)).replaceAll(LENGTH, '(text) => [...text].length');
  const body = code
    .split('\n')
    .filter((line) => !/^(?:"use strict"|export .*|const schema0 = .*);?$/.test(line))
    .join('\n');
  if (/\brequire\(|^import /m.test(body)) throw new Error('the generated validator needs a module');
  const head = [
    '// Generated from router.schema.json by `npm run generate`. Do not edit.',
    '',
    'export function makeValidator(schema0, formats) {',
  ];
  return [
    ['schemas/config/gen/validator.js', `${head.join('\n')}\n${body}\nreturn validate0;\n}\n`],
    ['schemas/config/gen/validator.d.ts', `${head[0]}\n\n${DECLARATION}`],
  ];
}

/** Every value of `format` in the schema. */
function formatsOf(root: ConfigSchema): Set<string> {
  const formats = new Set<string>();
  JSON.stringify(root, (key, value: unknown) => {
    if (key === 'format' && typeof value === 'string') formats.add(value);
    return value;
  });
  return formats;
}
