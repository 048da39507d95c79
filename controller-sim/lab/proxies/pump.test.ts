// One direction of a proxied connection, with streams instead of sockets and a virtual clock.

import type { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import t from 'tap';
import { BufferBudget } from '#lib/queue/buffer-budget.ts';
import { type EndBudget, HolderBudgets } from '#lib/queue/holder-budgets.ts';
import { seededRandom } from '#lib/random.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import type { ConnectionRule } from '../faults/fault.ts';
import { Pump } from './pump.ts';

const MIB = 1024 * 1024;

function opened(rule: ConnectionRule, budget: EndBudget = new BufferBudget()) {
  const clock = new VirtualClock();
  const [source, target] = [new PassThrough(), new PassThrough()];
  let excesses = 0;
  const pump = new Pump({
    clock,
    random: seededRandom(1),
    source: source as unknown as Socket,
    target: target as unknown as Socket,
    budget,
    rule: () => rule,
    onExcess: () => void excesses++,
  });
  return { clock, source, target, pump, excesses: () => excesses };
}

const turn = () => new Promise(setImmediate);

t.test('slices of one byte are cut when they are due, and all bytes arrive in order', async (t) => {
  const budget = new BufferBudget();
  const { clock, source, target, pump } = opened({ slice: 1, sliceDelay: 1 } as ConnectionRule, budget);
  const received: Buffer[] = [];
  target.on('data', (bytes: Buffer) => received.push(bytes));
  const sent = Buffer.from(Array.from({ length: 40_000 }, (_none, index) => index % 251));
  source.write(sent.subarray(0, 20_000));
  source.write(sent.subarray(20_000));
  await turn();
  t.ok(budget.used <= sent.length + 1_024, `${budget.used} bytes held for ${sent.length}`);
  while (Buffer.concat(received).length < sent.length) {
    await clock.advance(10_000);
    await turn();
  }
  t.ok(Buffer.concat(received).equals(sent));
  t.ok(received.length > 1_000, `${received.length} pieces`);
  pump.close();
  t.equal(budget.used, 0);
  t.same(clock.timers(), []);
});

t.test('what a slow target has not taken is held too: its source waits', async (t) => {
  const budget = new BufferBudget();
  const { source, target, pump } = opened({} as ConnectionRule, budget);
  for (let count = 0; count < 64; count++) source.write(Buffer.alloc(MIB / 4));
  for (let count = 0; count < 10; count++) await turn();
  t.ok(source.isPaused());
  t.ok(source.readableLength + source.writableLength > 10 * MIB, 'the rest waits in the source');
  t.ok(budget.used <= 5 * MIB, `${budget.used} bytes held`);
  let length = 0;
  target.on('data', (bytes: Buffer) => {
    length += bytes.length;
  });
  while (length < 16 * MIB) await turn();
  await turn();
  t.equal(budget.used, 0);
  pump.close();
});

t.test('strangers who send into a stall share a budget, and leave room for another source', async (t) => {
  const all = new BufferBudget(8 * MIB);
  const budgets = new HolderBudgets(all);
  const stall = { stall: true } as ConnectionRule;
  const read = Buffer.alloc(64 * 1024);
  const strangers = Array.from({ length: 500 }, () => opened(stall, budgets.use('192.0.2.1').budget));
  for (const { source } of strangers) for (let count = 0; count < 16; count++) source.write(read);
  for (let count = 0; count < 10; count++) await turn();
  t.ok(all.used < 16 * MIB, `${all.used} bytes held of ${strangers.length} connections`);
  t.ok(
    strangers.some(({ excesses }) => excesses() > 0),
    'the connections whose first read is too much end',
  );
  const { source, excesses } = opened(stall, budgets.use('198.51.100.1').budget);
  const before = all.used;
  for (let count = 0; count < 4; count++) source.write(read);
  await turn();
  t.ok(all.used > before);
  t.equal(excesses(), 0);
  for (const { pump } of strangers) pump.close();
});
