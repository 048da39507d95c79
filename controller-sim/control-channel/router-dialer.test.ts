// The waits between dials of a router that listens for controllers. test/network/control-listeners.test.ts dials some.

import t from 'tap';
import { createLog } from '#lib/log/log.ts';
import { seededRandom } from '#lib/random.ts';
import { CLOSED_PORT } from '../../test/support/networks/fixed-ports.ts';
import { ControlRoom } from '../../test/support/rooms/control-room.ts';
import { Body } from '../entities/body.ts';
import { createTransitRouter } from '../entities/router.ts';
import type { ControlServer } from './control-server.ts';
import { RouterDialer } from './router-dialer.ts';

const SECOND = 1_000;

t.test('a router that cannot be reached is dialed less and less often, at least every five minutes', async (t) => {
  using room = await ControlRoom.open();
  await room.change((transaction) => {
    createTransitRouter(transaction, 'away', new Body({ name: 'away', fingerprint: 'f' }, 'create'), undefined);
    transaction.patch('router', 'away', { ctrlChanListeners: { [`tls:127.0.0.1:${CLOSED_PORT}`]: [] } });
  });
  const { clock } = room;
  const failures: number[] = [];
  const log = createLog({
    write: (line) => line.includes('could not dial a router') && failures.push(clock.monotonic()),
  });
  const dialer = new RouterDialer({ ...room.context, log }, {} as ControlServer, seededRandom(1));
  const state = () => dialer.check().find(({ routerId }) => routerId === 'away')?.errors[0] ?? '';
  for (let seconds = 0; seconds < 3_600; seconds++) {
    await clock.advance(SECOND);
    while (/Dialing/.test(state())) await new Promise((resolve) => setImmediate(resolve));
  }
  const waits = failures.slice(1).map((at, index) => at - (failures[index] ?? 0));
  t.equal(waits[0], SECOND);
  t.same(
    waits,
    waits.toSorted((a, b) => a - b),
    'no wait is shorter than the one before',
  );
  t.equal(waits.at(-1), 300 * SECOND, 'the longest wait');
  t.ok(waits.length >= 15 && waits.length <= 30, `${waits.length} attempts in an hour`);
  dialer.close();
});
