// The posture store keeps the events of sessions without connections, within limits.

import t from 'tap';
import { PostureStore } from './posture-store.ts';

t.test('sessions without a connection keep only events, and the most recent ones', async (t) => {
  const store = new PostureStore();
  for (let index = 0; index < 12_000; index++) {
    const { posture, release } = store.use(`${index}`);
    if (index % 2 === 0) posture.passedMfa(index);
    release();
  }
  t.equal(store.size, 6_000, 'sessions without events leave nothing');
  for (let index = 0; index < 12_000; index++) {
    const { posture, release } = store.use(`more ${index}`);
    posture.passedMfa(index);
    release();
  }
  t.equal(store.size, 10_000);
  const first = store.use('more 11999');
  const second = store.use('more 11999');
  t.equal(first.posture, second.posture);
  t.equal(first.posture.state.passedMfaAt, 11_999);
  first.release();
  second.release();
  t.equal(store.size, 10_000);
});
