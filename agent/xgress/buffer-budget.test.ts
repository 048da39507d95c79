// Limits of a circuit: the memory that it holds and its bytes in flight, with peers that misbehave, do not read, or
// answer slowly.

import t from 'tap';
import { BufferBudget } from '#lib/queue/buffer-budget.ts';
import { PayloadFlag, PayloadHeader } from '#wire/gen/numbers.ts';
import { Payload } from '#wire/xgress-frames.ts';
import { alone, bytes, CALM, Circuit } from '../../test/support/rooms/circuit.ts';
import { DelayLimit } from './delay-limit.ts';

t.test(
  'a peer cannot fill the memory with payloads out of order, with payloads without data, or far ahead',
  async (t) => {
    const limit = 1_000_000;
    const attacks: [string, (receive: (sequence: number, bytes?: Buffer) => void) => void][] = [
      ['ascending', (receive) => times(2_000, (count) => receive(count + 1))],
      ['descending', (receive) => times(2_000, (count) => receive(60_000 - count))],
      ['every other one', (receive) => times(2_000, (count) => receive(2 * count + 1))],
      ['without data', (receive) => times(20_000, (count) => receive(count + 1, Buffer.alloc(0)))],
      ['far ahead', (receive) => times(2_000, (count) => receive(0x7fff_ffff - count, Buffer.alloc(0)))],
    ];
    for (const [name, attack] of attacks) {
      const { circuit, client, initiator, receive } = alone({ rxBufferSize: limit });
      attack((sequence, data) => void receive(sequence, data));
      t.ok(circuit.budget.used < limit + 20_000, `${name}: ${circuit.budget.used} bytes are held`);
      t.ok(circuit.counts.dropped > 0, 'dropped payloads are counted');
      t.equal(client.length, 0);
      receive(0);
      t.ok(
        name === 'descending' || name === 'far ahead' || client.length > 0 || name === 'without data',
        'the next one fits',
      );
      initiator.abort();
      t.equal(circuit.budget.used, 0);
    }
  },
);

t.test('duplicated, returned and already delivered payloads change nothing', async (t) => {
  const { circuit, client, initiator, receive } = alone();
  for (const sequence of [0, 1, 1, 0, 3, 3, 2, 2, 3]) receive(sequence, Buffer.from(String(sequence)));
  t.equal(client.received.toString(), '0123');
  t.equal(circuit.counts.duplicates, 5);
  initiator.acceptPayload(Payload.create('circuit', 4, 0, Buffer.from('own')));
  t.equal(client.received.toString(), '0123', 'its own returned payload is dropped');
  t.equal(circuit.counts.dropped, 1);
  initiator.abort();
});

t.test('unknown, duplicate and misdirected acknowledgements break nothing', async (t) => {
  const { circuit, initiator, acknowledge } = alone({ retxMaxMs: 0 });
  circuit.drop = () => true;
  times(3, () => void initiator.write(Buffer.alloc(1_000)));
  acknowledge([1], 0, 0, 0);
  t.same(initiator.unacknowledged, { bytes: 3_000, payloads: 4 }, 'its own returned acknowledgement is ignored');
  acknowledge([1, 1, 1, 99, -1, 0x7fff_ffff, -0x8000_0000]);
  t.same(initiator.unacknowledged, { bytes: 2_000, payloads: 3 });
  for (let round = 0; round < 200; round++)
    acknowledge(
      Array.from({ length: 500 }, (_each, index) => 1_000 + index),
      0,
      1 + (round % 0xffff),
    );
  t.same(initiator.unacknowledged, { bytes: 2_000, payloads: 3 });
  const before = circuit.counts.retransmitted;
  await circuit.clock.advance(600_000);
  t.ok(circuit.counts.retransmitted > before, 'lost payloads are still retransmitted in bounded time');
  acknowledge([0, 2, 3]);
  t.same(initiator.unacknowledged, { bytes: 0, payloads: 0 });
  acknowledge([], 0xffff_ffff);
  initiator.write(Buffer.alloc(1_000));
  t.same(
    initiator.unacknowledged,
    { bytes: 1_000, payloads: 1 },
    'a peer that claims to be full still gets one payload at a time',
  );
  for (const end of Object.values(circuit.ends)) end.abort();
  t.equal(circuit.budget.used, 0);
});

t.test('a peer that does not read is not flooded with retransmissions', async (t) => {
  const circuit = new Circuit(CALM, 7, { circuitStartTimeout: 0, rxBufferSize: 100_000 }).start();
  const { initiator, terminator } = circuit.clients;
  await circuit.until(() => circuit.ends.initiator.canWrite);
  terminator.accepts = false;
  const data = bytes(6_000_000, 7);
  circuit.feed('initiator', data, 10_000);
  await circuit.clock.advance(5_000);
  const before = circuit.counts.retransmitted;
  await circuit.clock.advance(60_000);
  const held = circuit.ends.initiator.unacknowledged.payloads;
  t.ok(
    circuit.counts.retransmitted - before <= 8 * held,
    `${circuit.counts.retransmitted - before} in a minute for ${held}`,
  );
  terminator.accepts = true;
  circuit.ends.terminator.resume();
  t.ok(await circuit.until(() => terminator.length === data.length, 60), 'all data arrives soon after it reads again');
  t.ok(terminator.received.equals(data));
  for (const end of Object.values(circuit.ends)) end.abort();
  t.equal(circuit.budget.used, 0);
  t.equal(initiator.outcome, 'cut');
});

t.test('payloads without data that the peer does not acknowledge are limited, too', async (t) => {
  const circuit = new Circuit(CALM, 1, { circuitStartTimeout: 0 }, new BufferBudget(400_000)).start();
  await circuit.until(() => circuit.ends.terminator.canWrite);
  circuit.drop = () => true;
  const headers = new Map([[PayloadHeader.EdgeFlags, Buffer.alloc(4)]]);
  let sent = 0;
  while (sent < 10_000 && circuit.ends.initiator.write(Buffer.alloc(0), headers)) sent++;
  t.ok(sent > 100 && sent < 1_000, `${sent} payloads wait for an acknowledgement`);
  circuit.drop = () => false;
  t.ok(await circuit.until(() => circuit.ends.initiator.canWrite), 'the acknowledgements make room');
  circuit.ends.initiator.abort();
  await circuit.until(() => circuit.ticker.size === 0);
  t.equal(circuit.budget.used, 0);
});

t.test('a peer that starts a circuit again and again, and acknowledges nothing, gets one answer', async (t) => {
  const circuit = new Circuit(CALM, 1);
  circuit.drop = () => true;
  circuit.ends.terminator.start();
  const headers = new Map([[PayloadHeader.Capabilities, Buffer.from([0, 0, 1, 0])]]);
  for (let sequence = 0; sequence < 1_000; sequence++)
    circuit.ends.terminator.acceptPayload(
      Payload.create('circuit', sequence, PayloadFlag.CircuitStart, Buffer.alloc(0), headers),
    );
  t.equal(circuit.ends.terminator.unacknowledged.payloads, 1);
  circuit.ends.terminator.abort();
});

t.test('ends whose clients do not read share the budget, and others make progress', async (t) => {
  const budget = new BufferBudget(4_000_000);
  const stalled = Array.from({ length: 20 }, (_each, index) => {
    const circuit = new Circuit(CALM, index, { circuitStartTimeout: 0 }, budget).start();
    circuit.clients.terminator.accepts = false;
    return circuit;
  });
  const { clock } = stalled[0] as Circuit;
  for (const circuit of stalled) {
    await circuit.until(() => circuit.ends.initiator.canWrite);
    circuit.feed('initiator', bytes(4_000_000, 1), 10_000);
    await circuit.clock.advance(500);
  }
  for (let round = 0; round < 20; round++) for (const circuit of stalled) await circuit.clock.advance(500);
  t.ok(budget.used < 2 * 4_000_000, `${budget.used} bytes are held by 20 ends that could hold 80 MB each`);
  const other = new Circuit(CALM, 99, { circuitStartTimeout: 0 }, budget).start();
  await other.until(() => other.ends.initiator.canWrite);
  const data = bytes(1_000_000, 9);
  other.feed('initiator', data, 10_000);
  t.ok(await other.until(() => other.clients.terminator.length === data.length, 120));
  t.ok(other.clients.terminator.received.equals(data));
  t.ok(clock.now() > 0);
  for (const circuit of [...stalled, other]) for (const end of Object.values(circuit.ends)) end.abort();
  t.equal(budget.used, 0);
});

t.test('large messages of many circuits are bounded together, and ordinary ones always fit', async (t) => {
  const limit = 1_000_000;
  const budget = new BufferBudget(limit);
  const large = Buffer.alloc(500_000);
  const stuck = Array.from({ length: 50 }, () => alone({}, budget));
  for (const { client, receive } of stuck) {
    client.accepts = false;
    receive(0, large);
  }
  t.ok(budget.used < 4 * limit, `${budget.used} bytes are held by 50 ends`);
  const other = alone({}, budget);
  other.receive(0, Buffer.alloc(64 * 1024));
  other.receive(1, large);
  t.equal(other.client.length, 64 * 1024);
  t.ok(other.circuit.counts.dropped > 0, 'the peer sends it again');
  stuck[0]?.initiator.abort();
  other.receive(1, large);
  t.equal(other.client.length, 64 * 1024 + large.length);
  for (const { initiator } of [...stuck, other]) initiator.abort();
  t.equal(budget.used, 0);
});

function times(count: number, task: (index: number) => void): void {
  for (let index = 0; index < count; index++) task(index);
}

t.test('an end that is cut during delivery releases its budget exactly once', async (t) => {
  const { circuit, client, initiator, receive } = alone();
  client.onDeliver = () => initiator.abort();
  for (const sequence of [2, 1, 0]) receive(sequence);
  t.equal(client.outcome, 'cut');
  t.equal(circuit.budget.used, 0);
  const paused = alone();
  paused.client.accepts = false;
  for (const sequence of [2, 1, 0]) paused.receive(sequence);
  paused.initiator.abort();
  paused.initiator.resume();
  t.equal(paused.circuit.budget.used, 0);
});

t.test('slow acknowledgements reduce the bytes in flight of a circuit, and fast ones raise them again', async (t) => {
  const limit = new DelayLimit();
  const full = 4 * 1024 * 1024;
  limit.measured(1, 65_536, full, 1_000);
  t.equal(limit.bytes, Number.POSITIVE_INFINITY, 'only the window limits');
  limit.measured(20, 65_536, full, 1_020);
  t.equal(limit.bytes, full / 2);
  limit.measured(20, 65_536, full, 1_030);
  t.equal(limit.bytes, full / 2, 'once per round trip');
  for (let now = 1_100; now < 2_000; now += 100) limit.measured(20, 65_536, limit.bytes, now);
  t.equal(limit.bytes, 128 * 1024, 'the minimum');
  limit.measured(2, 65_536, limit.bytes, 2_100);
  t.equal(limit.bytes, 192 * 1024);
});

t.test('a path that became longer does not slow a circuit forever', async (t) => {
  const limit = new DelayLimit();
  limit.measured(1, 65_536, 1_000_000, 1_000);
  for (let now = 2_000; now < 14_000; now += 100) limit.measured(80, 65_536, 1_000_000, now);
  t.ok(limit.bytes > 1_000_000, `${limit.bytes} bytes may be on their way`);
});
