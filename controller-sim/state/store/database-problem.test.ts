// The causes that clients see when a change is not stored.

import t from 'tap';
import { TimeoutError } from '#lib/errors.ts';
import { databaseProblem } from './database-problem.ts';
import { StoreError } from './store.ts';

t.test('each cause is in words, without the text of the database', async (t) => {
  const coded = (code: string) => Object.assign(new Error('connect to secret.example as admin'), { code });
  for (const [error, expected] of [
    [coded('55P03'), 'another session holds a lock that the change needs (55P03)'],
    [coded('25006'), 'it is read-only: a replica, or it was set so (25006)'],
    [coded('53100'), 'its disk is full (53100)'],
    [coded('53999'), 'it lacks a resource (53999)'],
    [coded('ECONNREFUSED'), 'nothing listens at its address (ECONNREFUSED)'],
    [coded('ECONNRESET'), 'its connection was lost (ECONNRESET)'],
    [coded('42883'), 'its tables, or the rights of the user, are not those of this release (42883)'],
    [coded('99999'), 'it reports an error of an unknown kind (99999)'],
    [new Error('Connection terminated by secret.example'), 'its connection was lost'],
    [new TimeoutError('the database', 1_500), 'it did not answer in time'],
    [new StoreError('the store is closed'), 'the store is closed'],
  ] as const)
    t.equal(databaseProblem(error), expected);
});
