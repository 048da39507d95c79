// Sessions in memory: their limit, and their end.

import t from 'tap';
import type { ApiSession } from '../state/kinds/api-session.ts';
import { UnstoredSessions } from './unstored-sessions.ts';

const session = (token: string) => ({ token }) as ApiSession;

t.test('the oldest session makes room for the newest one', async (t) => {
  const sessions = new UnstoredSessions();
  for (let count = 0; count <= 100; count++) sessions.add(session(`token ${count}`));
  t.equal(sessions.find('token 0'), undefined);
  t.equal(sessions.find('token 1')?.token, 'token 1');
  t.equal(sessions.end(session('token 1')), true);
  t.equal(sessions.end(session('token 1')), false);
  t.equal(sessions.find('token 1'), undefined);
});
