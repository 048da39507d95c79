// The request that the form for faults makes: each one is accepted by the rules of the simulator.

import t from 'tap';
import type { NewFault } from '../../../lab/faults/fault.ts';
import { checkedFault } from '../../../lab/faults/fault-rule.ts';
import { FIELDS, faultOf } from './fault-form.js';

const EVERYTHING = {
  operation: 'listServices',
  method: 'get',
  path: '/edge',
  identity: 'jane',
  router: 'router-a',
  message: 'Route',
  direction: 'out',
  times: '2',
  probability: '0.5',
  delay: '20ms',
  status: '503',
  code: 'RATE_LIMITED',
};

t.test('every effect of both kinds makes a valid fault, with all fields filled', async (t) => {
  for (const kind of ['http', 'control'] as const)
    for (const effect of FIELDS[kind].effects) {
      const fault = faultOf({ ...EVERYTHING, kind, effect });
      t.match(checkedFault(fault as unknown as NewFault), { kind, times: 2, probability: 0.5 }, `${kind} ${effect}`);
    }
});

t.test('all fields of the rules are in the form', async (t) => {
  const sent = (kind: 'http' | 'control') =>
    new Set(FIELDS[kind].effects.flatMap((effect) => Object.keys(faultOf({ ...EVERYTHING, kind, effect }))));
  for (const kind of ['http', 'control'] as const)
    for (const name of ['kind', 'times', 'probability', 'delay', ...FIELDS[kind].texts, ...FIELDS[kind].effects])
      t.ok(sent(kind).has(name), `${kind} ${name}`);
});

t.test('empty fields are omitted, and wrong numbers are left to the simulator', async (t) => {
  t.same(faultOf({ kind: 'http', effect: 'status', status: ' 503 ', times: '', path: ' ' }), {
    kind: 'http',
    status: 503,
  });
  t.same(faultOf({ kind: 'http', effect: 'status', status: 'many' }), { kind: 'http', status: 'many' });
  t.same(faultOf({ kind: 'http', effect: 'close', status: '503' }), { kind: 'http', close: true });
});
