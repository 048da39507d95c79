// Makes the lab clients of other languages, and calls with every field for their tests, from the contract of the lab
// API. What starts and stops the program is written by hand beside them, in clients/.

import { readCalls } from './clients/contract.ts';
import { goCalls, goLab } from './clients/go.ts';
import { javaCalls, javaLab } from './clients/java.ts';
import { pythonCalls, pythonLab } from './clients/python.ts';

const JAVA = 'clients/java/src';

/** Path (relative to the project) → content. */
export function generateClients(): Map<string, string> {
  const calls = readCalls();
  return new Map([
    ['clients/python/edgeweave/lab.py', pythonLab(calls)],
    ['clients/python/tests/every_field_calls.py', pythonCalls(calls)],
    ['clients/go/lab.go', goLab(calls)],
    ['clients/go/every_field_calls_test.go', goCalls(calls)],
    [`${JAVA}/main/java/edgeweave/Lab.java`, javaLab(calls)],
    [`${JAVA}/test/java/edgeweave/EveryFieldCalls.java`, javaCalls(calls)],
  ]);
}
