// Validators for the data of configs on a slow machine.

import { Ajv } from 'ajv';
import t from 'tap';

// Its own instance of the module: another test file of this process may have loaded the shared one.
const MODULE = './schema-validator.ts?not-loaded';
const { firstError, loadSchemaValidator }: typeof import('./schema-validator.ts') = await import(MODULE);

t.test('the schema of schemas is compiled at load, where no time limit aborts it', async (t) => {
  // After an aborted compilation each later one failed, with "ajv implementation error".
  const internals = Ajv.prototype as unknown as { _compileMetaSchema: (...args: unknown[]) => unknown };
  const calls = t.capture(internals, '_compileMetaSchema', internals._compileMetaSchema);
  await loadSchemaValidator();
  t.equal(calls().length, 1);
  t.equal(firstError({ type: 'object' }, {}), undefined);
  t.equal(calls().length, 0, 'none within the time limit');
});
