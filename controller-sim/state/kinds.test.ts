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
