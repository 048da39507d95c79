// The posture store keeps the events of sessions without connections, within limits.

import { create } from '@bufbuild/protobuf';
import t from 'tap';
import { PostureResponseSchema } from '#wire/gen/edge_client_pb.js';
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

t.test('a report of processes changes those that it names, within a limit', (t) => {
  const { posture } = new PostureStore().use('session');
  const report = (...processes: [path: string, isRunning: boolean][]) => {
    const list = processes.map(([path, isRunning]) => ({ path, isRunning, hash: '', signerFingerprints: [] }));
    posture.report(create(PostureResponseSchema, { type: { case: 'processList', value: { processes: list } } }), 0);
  };
  const running = () => posture.state.processes.filter(({ isRunning }) => isRunning).map(({ path }) => path);
  report(['/bin/a', true], ['/bin/b', true]);
  report(['/bin/c', true]);
  t.same(running(), ['/bin/a', '/bin/b', '/bin/c']);
  report(['/bin/b', false]);
  t.same(running(), ['/bin/a', '/bin/c']);
  report();
  t.same(running(), ['/bin/a', '/bin/c']);
  for (let index = 0; index < 2_000; index++) report([`/bin/${index}`, true]);
  t.equal(posture.state.processes.length, 500);
  t.equal(running().at(-1), '/bin/1999');
  t.end();
});
