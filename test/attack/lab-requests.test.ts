// Long texts in requests to the lab API, some of which need only the permission to read: their cost grows with their
// length, not faster.

import t from 'tap';
import { startSimulator } from '../../controller-sim/assembly/simulator.ts';
import { TEST_COST } from '../../controller-sim/auth/passwords.ts';
import { ApiClient, PASSWORD } from '../support/clients/api-client.ts';

/** Characters. */
const LENGTH = 900_000;
/** Processor milliseconds of one request, of both sides; the most expensive one needs 30. */
const MAX_CPU = 1_000;
const long = (text: string) => text.repeat(LENGTH / text.length);

const REQUESTS: readonly (readonly [name: string, method: string, path: string, body: object])[] = [
  ['digits', 'POST', 'clock/advance', { duration: long('1') }],
  ['days', 'POST', 'clock/advance', { duration: long('1d') }],
  ['fractions', 'POST', 'clock/advance', { duration: long('1.') }],
  ['numbers', 'PATCH', 'clock', { time: long('1 ') }],
  ['comments', 'PATCH', 'clock', { time: long('(') }],
  ['a wait', 'POST', 'journal/verify', { within: long('1'), path: '/' }],
  ['a path', 'POST', 'journal/verify', { path: long('/x') }],
  ['an operation', 'POST', 'journal/verify', { operation: long('list') }],
  ['stars', 'POST', 'faults', { kind: 'http', path: long('*a'), status: 500 }],
  ['a delay', 'POST', 'faults', { kind: 'http', delay: long('1') }],
  ['an unknown code', 'POST', 'faults', { kind: 'http', code: long('NOT_') }],
  ['the name of a snapshot', 'POST', 'snapshots', { name: long('a') }],
  ['the name of a service', 'POST', 'services', { name: long('a'), host: long('b'), port: 1 }],

  ['a question', 'POST', 'why', { identity: long('a'), service: long('b'), type: 'Dial' }],
  ['a session', 'POST', 'why', { identity: 'Default Admin', service: long('b'), type: 'Dial', session: long('c') }],
];

t.test('no request of 900 KB takes long', { timeout: 60_000 }, async (t) => {
  await using simulator = await startSimulator({ password: PASSWORD, passwordCost: TEST_COST });
  await using api = new ApiClient(simulator);
  await api.manage('GET', '/version');
  for (const [name, method, path, body] of REQUESTS) {
    const before = process.cpuUsage();
    const { status } = await api.manage(method, `/lab/v1/${path}`, body);
    const { user, system } = process.cpuUsage(before);
    t.ok(status >= 400 && status < 500, `${name}: ${status}`);
    t.ok((user + system) / 1_000 < MAX_CPU, `${name}: ${(user + system) / 1_000} ms`);
  }
});
