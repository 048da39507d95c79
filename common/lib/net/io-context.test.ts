// Two programs in one process share nothing.

import { EventEmitter } from 'node:events';
import t from 'tap';
import { VirtualClock } from '../time/clock.ts';
import { IoContext } from './io-context.ts';

const context = (maxClientSockets?: number) => {
  const clock = new VirtualClock();
  return {
    clock,
    io: new IoContext({ clock, realClock: clock, ...(maxClientSockets !== undefined && { maxClientSockets }) }),
  };
};

t.test('the processor time, the sockets and the memory of one program leave those of another alone', async (t) => {
  const [one, other] = [context(1), context(1)];
  const client = { remoteAddress: '192.0.2.1' };
  for (const kind of ['unauthenticatedCpu', 'datagramCpu'] as const) {
    const served: string[] = [];
    one.io[kind].punish(client);
    one.io[kind].run(client, () => served.push('one'));
    other.io[kind].run(client, () => served.push('other'));
    t.same([served, one.io[kind].waiting], [['other'], 1]);
    await one.clock.advance(12_000);
    t.same(served, ['other', 'one'], `${kind} rests by the clock of its program`);
  }
  t.ok(one.io.clientSockets.admit(new EventEmitter()));
  t.notOk(one.io.clientSockets.admit(new EventEmitter()));
  t.ok(other.io.clientSockets.admit(new EventEmitter()));
  const block = one.io.buffers.acquire(20_000);
  one.io.buffers.release(block);
  t.not(other.io.buffers.acquire(20_000).buffer, block.buffer);
  t.equal(one.io.buffers.acquire(20_000).buffer, block.buffer);
});

t.test('queued bytes do not wait for a clock that stands still', async (t) => {
  const { flushes } = new IoContext({ clock: new VirtualClock() });
  let isFlushed = false;
  flushes.add(() => {
    isFlushed = true;
  });
  for (let turn = 0; turn < 20_000 && !isFlushed; turn++) {
    flushes.noteInput();
    await new Promise(setImmediate);
  }
  t.ok(isFlushed, 'although input arrives in every turn');
});
