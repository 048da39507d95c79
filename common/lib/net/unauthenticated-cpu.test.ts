// The time of strangers: sources in turn, a burst, then a share; a proof gives it back.

import t from 'tap';
import { VirtualClock } from '../time/clock.ts';
import { UnauthenticatedCpu } from './unauthenticated-cpu.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Tasks take ten milliseconds each, of a virtual clock; a source may use 30 at once, then a tenth of the time. */
function rooms(all = { burst: 1_000, share: 0.5 }) {
  const clock = new VirtualClock();
  const unauthenticatedCpu = new UnauthenticatedCpu({ clock, used: () => 0, source: { burst: 30, share: 0.1 }, all });
  const done: string[] = [];
  const add = (remoteAddress: string, name: string) => {
    const socket = { remoteAddress };
    return { socket, prevent: unauthenticatedCpu.run(socket, () => done.push(name), 10) };
  };
  const turns = async (count: number) => {
    while (count-- > 0) await turn();
  };
  return { clock, unauthenticatedCpu, add, done, turns };
}

t.test('one task in each turn of the event loop, sources in turn', async (t) => {
  const { add, done, turns } = rooms();
  for (const name of ['a1', 'a2', 'a3']) add('10.0.0.1', name);
  add('10.0.0.2', 'b1');
  t.same(done, ['a1'], 'the first one at once');
  await turns(2);
  t.ok(done.length < 4, 'the event loop goes on in between');
  await turns(10);
  t.same(done, ['a1', 'a3', 'b1', 'a2'], 'the newest of a source first');
});

t.test('a client that has used time goes before new ones of its source', async (t) => {
  const { add, done, turns, unauthenticatedCpu } = rooms();
  const { socket } = add('10.0.0.1', 'handshake');
  await turns(1);
  for (const name of ['other', 'another']) add('10.0.0.1', name);
  unauthenticatedCpu.run(socket, () => done.push('request'), 10);
  add('10.0.0.1', 'newest');
  await turns(10);
  t.equal(done.indexOf('request') < done.indexOf('newest'), true);
  t.equal(done.indexOf('newest') < done.indexOf('another'), true);
});

t.test('a source that has used its burst rests, others go on', async (t) => {
  const { clock, add, done, turns, unauthenticatedCpu } = rooms();
  for (let index = 1; index <= 6; index++) add('10.0.0.1', `a${index}`);
  await turns(20);
  t.same(done, ['a1', 'a6', 'a5', 'a4'], 'the burst, and the task that exceeds it');
  add('10.0.0.2', 'b1');
  await turns(2);
  t.equal(done.at(-1), 'b1');
  await clock.advance(99);
  await turns(2);
  t.equal(done.at(-1), 'b1', 'ten milliseconds are a tenth of 100');
  await clock.advance(1);
  await turns(2);
  t.equal(done.at(-1), 'a3');
  await clock.advance(100);
  await turns(2);
  t.equal(done.at(-1), 'a2');
  t.equal(unauthenticatedCpu.waiting, 0);
});

t.test('a proof gives the time back', async (t) => {
  const { add, done, turns, unauthenticatedCpu } = rooms();
  for (let index = 0; index < 50; index++) {
    const { socket } = add('10.0.0.1', `a${index}`);
    await turns(1);
    unauthenticatedCpu.authenticated(socket);
    t.ok(unauthenticatedCpu.isAuthenticated(socket));
  }
  t.equal(done.length, 50);
});

t.test('a proof gives back what another socket of the connection used', async (t) => {
  const { add, done, turns, unauthenticatedCpu } = rooms();
  for (let index = 0; index < 50; index++) {
    const inner = { remoteAddress: '10.0.0.1' };
    const { socket } = add('10.0.0.1', `a${index}`);
    await turns(1);
    unauthenticatedCpu.joinClient(socket, inner);
    unauthenticatedCpu.authenticated(inner);
  }
  t.equal(done.length, 50);
});

t.test('a proof ends the rest of its source', async (t) => {
  const { clock, add, done, turns, unauthenticatedCpu } = rooms();
  const added = Array.from({ length: 6 }, (_, index) => add('10.0.0.1', `a${index}`));
  await turns(20);
  t.equal(done.length, 4);
  for (const { socket } of added) unauthenticatedCpu.authenticated(socket);
  await turns(10);
  t.equal(done.length, 6);
  t.same(clock.timers(), []);
});

t.test('an offence rests a source, and others go on', async (t) => {
  const { clock, add, done, turns, unauthenticatedCpu } = rooms({ burst: 100, share: 0.5 });
  for (let times = 0; times < 5; times++) unauthenticatedCpu.punish({ remoteAddress: '10.0.0.1' });
  add('10.0.0.1', 'a1');
  add('10.0.0.2', 'b1');
  await turns(4);
  t.same(done, ['b1']);
  await clock.advance(10_001);
  await turns(2);
  t.same(done, ['b1', 'a1'], 'after ten seconds');
});

t.test('a client that is accepted without a proof gets no time back', async (t) => {
  const { add, turns, unauthenticatedCpu } = rooms();
  const { socket } = add('10.0.0.1', 'a1');
  await turns(2);
  const accepted: string[] = [];
  unauthenticatedCpu.onAccepted(socket, () => accepted.push('before'));
  unauthenticatedCpu.accept(socket);
  unauthenticatedCpu.onAccepted(socket, () => accepted.push('after'));
  t.same(accepted, ['before', 'after']);
  t.notOk(unauthenticatedCpu.isAuthenticated(socket));
  t.equal(unauthenticatedCpu.usedBy('10.0.0.1'), 10);
});

t.test('what a task settles is a part of it', async (t) => {
  let used = 0;
  const unauthenticatedCpu = new UnauthenticatedCpu({ clock: new VirtualClock(), used: () => used });
  const work = async () => {
    await Promise.resolve();
    await Promise.resolve();
    used += 7;
  };
  unauthenticatedCpu.run({ remoteAddress: '10.0.0.1' }, () => process.nextTick(() => void work()));
  await turn();
  t.equal(unauthenticatedCpu.usedBy('10.0.0.1'), 7);
});

t.test('all sources together use at most their share', async (t) => {
  const { clock, add, done, turns } = rooms({ burst: 100, share: 0.5 });
  for (let index = 0; index < 100; index++) add(`10.0.0.${index}`, `a${index}`);
  await turns(200);
  t.equal(done.length, 11, 'the burst, and the task that exceeds it');
  for (let step = 0; step < 10; step++) {
    await clock.advance(20);
    await turns(4);
  }
  t.equal(done.length, 21, 'one of ten milliseconds in 20');
});

t.test('what was prevented leaves nothing', async (t) => {
  const { clock, add, done, turns, unauthenticatedCpu } = rooms();
  const added = Array.from({ length: 10 }, (_, index) => add('10.0.0.1', `a${index}`));
  await turns(20);
  t.same(clock.timers(), ['processor time of a source']);
  for (const { prevent } of added) prevent();
  t.same([unauthenticatedCpu.waiting, clock.timers()], [0, []]);
  await clock.advance(10_000);
  await turns(2);
  t.equal(done.length, 4);
});

t.test('others feel what strangers use at once, and soon no longer', async (t) => {
  const { clock, add, turns, unauthenticatedCpu } = rooms();
  add('10.0.0.1', 'one');
  await turns(2);
  t.notOk(unauthenticatedCpu.isNoticeable, 'ten milliseconds');
  const { socket } = add('10.0.0.2', 'another');
  add('10.0.0.3', 'and another');
  await turns(4);
  t.ok(unauthenticatedCpu.isNoticeable, 'more than 20');
  unauthenticatedCpu.authenticated(socket);
  t.notOk(unauthenticatedCpu.isNoticeable, 'a proof gives it back');
  for (let index = 0; index < 20; index++) add(`10.1.0.${index}`, 'flood');
  await turns(50);
  t.ok(unauthenticatedCpu.isNoticeable);
  await clock.advance(3_900);
  t.ok(unauthenticatedCpu.isNoticeable);
  await clock.advance(200);
  t.notOk(unauthenticatedCpu.isNoticeable, 'however long the flood was');
});

t.test('proofs during a flood make room for themselves only', async (t) => {
  const { add, turns, unauthenticatedCpu } = rooms();
  const sockets = Array.from({ length: 20 }, (_, index) => add(`10.0.0.${index}`, 'one').socket);
  await turns(50);
  for (const socket of sockets.slice(4)) unauthenticatedCpu.authenticated(socket);
  t.ok(unauthenticatedCpu.isNoticeable, 'four have used 40 milliseconds');
});
