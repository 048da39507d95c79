// The budget of an identity: many ends that nobody reads do not multiply the bytes that each of them may hold.

import t from 'tap';
import { BufferBudget } from '#lib/queue/buffer-budget.ts';
import { type EndBudget, HolderBudgets } from '#lib/queue/holder-budgets.ts';
import { alone, CALM, Circuit } from '../../test/support/rooms/circuit.ts';

const LIMIT = 64 * 1024 * 1024;
const MESSAGE = Buffer.alloc(60_000);

/** An end that sends and gets no acknowledgement. Returns the number of messages that it could send. */
function fill(budget: EndBudget, data = MESSAGE): { sent: number; circuit: Circuit } {
  const circuit = new Circuit(CALM, 1, { circuitStartTimeout: 0 }, budget);
  circuit.drop = () => true;
  circuit.ends.initiator.start();
  const { initiator } = circuit.ends;
  let sent = 0;
  while (sent < 100 && initiator.canWrite && initiator.fits(data.length)) {
    initiator.write(data);
    sent++;
  }
  return { sent, circuit };
}

t.test('thousands of circuits of one identity that nobody reads hold less than the budget', async (t) => {
  const all = new BufferBudget(LIMIT);
  const holders = new HolderBudgets(all);
  const stalled = Array.from({ length: 3_059 }, () => {
    const { budget, release } = holders.use('stalled');
    return { ...fill(budget), budget, release };
  });
  t.ok(all.used < LIMIT, `${(all.used / 2 ** 20).toFixed(1)} MiB`);
  t.ok(stalled[0]?.sent, 'the first ones could send');
  t.equal(fill(holders.use('stalled').budget, Buffer.alloc(1_000)).sent > 0, true, 'small messages always fit');
  t.ok(fill(holders.use('other').budget).sent > 50, 'another identity gets its part');
  t.ok(fill(all).sent > 50, 'and so does an end with a socket');
  for (const { circuit, release } of stalled) {
    circuit.ends.initiator.abort();
    release();
  }
  t.equal(fill(holders.use('stalled').budget).sent > 10, true, 'its end makes room');
});

t.test('payloads for thousands of clients that read nothing are bounded, too', async (t) => {
  const all = new BufferBudget(LIMIT);
  const holders = new HolderBudgets(all);
  const stalled = Array.from({ length: 3_059 }, () => {
    const end = alone({}, holders.use('stalled').budget);
    end.client.accepts = false;
    for (let sequence = 0; sequence < 3; sequence++) end.receive(sequence, MESSAGE);
    return end;
  });
  t.ok(all.used < LIMIT, `${(all.used / 2 ** 20).toFixed(1)} MiB`);
  const other = alone({}, holders.use('other').budget);
  other.receive(0, MESSAGE);
  t.equal(other.client.length, MESSAGE.length);
  for (const { initiator } of [...stalled, other]) initiator.abort();
  t.equal(all.used, 0);
});

t.test('the objects of ends count, and every identity keeps a part', async (t) => {
  const all = new BufferBudget(LIMIT);
  const holders = new HolderBudgets(all);
  const { budget, release } = holders.use('many');
  const before = budget.share;
  const others = Array.from({ length: 1_000 }, () => holders.use('many'));
  t.ok(before - budget.share > 5_000_000, `${before - budget.share} bytes`);
  all.add(2 * LIMIT);
  t.equal(budget.share, 16 * 1024);
  t.ok(budget.fits(64 * 1024));
  budget.add(8 * 1024 * 1024);
  t.ok(budget.share * 1_000 <= 4 * 1024 * 1024, 'many ends do not multiply the least share');
  t.notOk(budget.fits(64 * 1024));
  t.ok(budget.fits(1_000));
  t.ok(holders.use('few').budget.fits(64 * 1024));
  for (const each of others) each.release();
  t.equal(holders.size, 2);
  release();
  t.equal(holders.size, 1, 'a holder without ends is forgotten');
});
