// Which errors of requests are logged as faults.

import t from 'tap';
import { ClosedError } from '#lib/errors.ts';
import { type Log, silentLog } from '#lib/log/log.ts';
import { BusyError } from '../../state/state.ts';
import { StoreWriteError } from '../../state/store/store.ts';
import { toApiError } from './errors.ts';

t.test('a fault is logged; a stop of the simulator and a full queue are not', async (t) => {
  const table: [error: Error, status: number, logged: number][] = [
    [new Error('a fault'), 500, 1],
    [new StoreWriteError('the disk is full'), 503, 1],
    [new StoreWriteError('the database does not answer', { isLogged: true }), 503, 0],
    [new BusyError(), 429, 0],
    [new ClosedError('password hashes'), 503, 0],
  ];
  for (const [error, status, count] of table) {
    const logged: string[] = [];
    const log: Log = Object.assign(Object.create(silentLog) as Log, { error: () => void logged.push(error.message) });
    t.equal(toApiError(error, { log }).status, status, error.message);
    t.equal(logged.length, count, error.message);
  }
});
