// Circuits that a controller routes, and routes again.

import t from 'tap';
import { VirtualClock } from '#lib/time/clock.ts';
import { CircuitTable, circuitOwner } from './circuit-table.ts';

t.test('a circuit that is routed again keeps its forwards and gets the new owner', async (t) => {
  const clock = new VirtualClock();
  const circuits = new CircuitTable(clock);
  const first = circuits.open('c', 'one', { clientId: 'anna' });
  first.forwards.set('a', 'b');
  first.isSuspect = true;
  await clock.advance(1_000);
  const again = circuits.open('c', 'two', { clientId: 'other' });
  t.equal(again, first);
  const at = clock.monotonic();
  t.match(again, { owner: 'two', lastActivity: at, routedAt: at, isSuspect: false, tags: { clientId: 'anna' } });
  t.same([...again.forwards], [['a', 'b']]);
  t.equal(circuits.size, 1);
  t.equal(circuits.delete('c'), true);
  t.equal(circuits.delete('c'), false);
  t.equal(circuits.get('c'), undefined);
});

t.test('the owner of a circuit is its client, else the link on which it comes, else this router', async (t) => {
  t.equal(
    circuitOwner({ clientId: 'anna' }, () => 'l'),
    'anna',
  );
  t.equal(
    circuitOwner({}, () => 'l'),
    'link l',
  );
  t.equal(
    circuitOwner({}, () => undefined),
    '',
  );
});
