// Reasons that concern the controllers of a router.

import t from 'tap';
import { explainControllers, type KnownControllers as Known } from './controllers.ts';

t.test('one connected controller is enough; others are named with their problem', async (t) => {
  const connected = [{ id: 'one' }];
  const away: Known['notConnected'] = [{ id: 'two', endpoints: ['tls:two:6262'], problem: undefined }];
  const reasons = (all: Known['all'], notConnected: Known['notConnected']) =>
    explainControllers({ all, notConnected }).map(({ message, blocking = false }) => `${blocking}: ${message}`);
  t.same(reasons(connected, []), ['false: connected to one']);
  const problem = 'the controller two is not connected: it was not dialed yet';
  t.same(reasons(connected, away), ['false: connected to one', `false: ${problem}`]);
  t.same(reasons([], away), [`true: ${problem}`]);
  t.same(reasons([], []), ['true: no controller is known']);
});
