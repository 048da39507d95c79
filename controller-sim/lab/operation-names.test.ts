// Paths and ids of operations, which the journal and faults select.

import t from 'tap';
import { BASES } from '#schemas/api/bases.ts';
import { isPathOfOperation, knownOperations } from './operation-names.ts';

t.test('a path of an operation has its fixed segments, and a name or id for each parameter', async (t) => {
  for (const base of BASES.management)
    for (const [path, expected] of [
      ['/services', true],
      ['/services/x', true],
      ['/services/x/terminators', true],
      ['/services/', false],
      ['/services//terminators', false],
      ['/services/x/none', false],
      ['/none/x', false],
      ['/services/x/terminators/y', false],
      ['', false],
    ] as const)
      t.equal(isPathOfOperation(`${base}${path}`), expected, `${base}${path}`);
});

t.test('operations of the lab itself are not selected', async (t) => {
  const known = knownOperations();
  for (const id of ['listServices', 'createIdentity']) t.ok(known.has(id), id);
  for (const id of ['listFaults', 'createProxy']) t.notOk(known.has(id), id);
});
