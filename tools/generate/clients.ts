// Makes the lab clients of other languages, and their tests of every field, from the contract of the lab API. What
// starts and stops the program is written by hand beside them, in clients/.

import { readCalls } from './clients/contract.ts';
import { goLab, goTest } from './clients/go.ts';
import { javaLab, javaTest } from './clients/java.ts';
import { pythonLab, pythonTest } from './clients/python.ts';

const JAVA = 'clients/java/src';

/** Path (relative to the project) → content. */
export function generateClients(): Map<string, string> {
  const calls = readCalls();
  return new Map([
    ['clients/python/edgeweave/lab.py', pythonLab(calls)],
    ['clients/python/tests/test_every_field.py', pythonTest(calls)],
    ['clients/go/lab.go', goLab(calls)],
    ['clients/go/every_field_test.go', goTest(calls)],
    [`${JAVA}/main/java/edgeweave/Lab.java`, javaLab(calls)],
    [`${JAVA}/test/java/edgeweave/EveryFieldTest.java`, javaTest(calls)],
  ]);
}
