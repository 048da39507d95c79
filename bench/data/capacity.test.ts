// The computation of what a router would carry on more cores, from the processor time of a GiB.

import t from 'tap';
import { capacity, capacityRows } from './capacity.ts';

t.test('the thread that decides or all cores limit a router, whichever is less', async (t) => {
  const ours = { serial: 0.5, total: 2.5 };
  t.equal(capacity(1, ours), 0.4, 'the only core does everything');
  t.equal(capacity(4, ours), 1.6, 'four cores have less time than all threads could use');
  t.equal(capacity(5, ours), 2);
  t.equal(capacity(16, ours), 2, 'further cores do not help the thread that decides');
  t.equal(capacity(16, { serial: undefined, total: 8 }), 2, 'a program whose threads all decide uses all cores');
  t.equal(capacity(4, { serial: 0, total: 2 }), 2, 'too little to be counted limits nothing');
});

t.test('each round is computed on its own, for the router that carries less', async (t) => {
  const rounds = [
    { throughput: 300, 'cpu entry': 2, 'serial entry': 0.25, 'cpu exit': 1, 'serial exit': 0.5 },
    { throughput: 300, 'cpu entry': 4, 'serial entry': 0.25, 'cpu exit': 1, 'serial exit': 0.2 },
  ];
  const reference = [{ throughput: 100, 'cpu entry': 8, 'cpu exit': 5 }];
  const rows = capacityRows(
    'work',
    new Map([
      ['ours', rounds],
      ['reference', reference],
      ['bare', reference],
    ]),
    ['ours', 'reference'],
  );
  t.same(
    rows.map(({ group, subject, values }) => [group, subject, values.computed?.min, values.computed?.max]),
    [
      ['computed: a router on 4 cores, work', 'ours', 1, 2],
      ['computed: a router on 4 cores, work', 'reference', 0.5, 0.5],
      ['computed: a router on 8 cores, work', 'ours', 2, 2],
      ['computed: a router on 8 cores, work', 'reference', 1, 1],
      ['computed: a router on 16 cores, work', 'ours', 2, 4],
      ['computed: a router on 16 cores, work', 'reference', 2, 2],
    ],
  );
  t.ok(
    rows.every(({ values }) => values.computed && !values.computed.ratio),
    'and has no yardstick',
  );
});

t.test('subjects without processor time have no rows: it was not counted, or too short', async (t) => {
  const none = [{ throughput: 300, 'cpu entry': 0, 'serial entry': 0, 'cpu exit': 1, 'serial exit': 1 }];
  t.same(capacityRows('work', new Map([['ours', none]]), ['ours', 'missing']), []);
});
