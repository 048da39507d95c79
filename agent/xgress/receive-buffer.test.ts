// The memory of received payloads belongs to their sender, which may be the other end of the circuit on this router.

import t from 'tap';
import { BufferBudget } from '#lib/queue/buffer-budget.ts';
import { BufferPool } from '#lib/queue/buffer-pool.ts';
import { Payload } from '#wire/xgress-frames.ts';
import { ReceiveBuffer } from './receive-buffer.ts';

const DATA = Buffer.alloc(50_000, 7);

const pool = new BufferPool();
const received = () => new ReceiveBuffer(1_000_000, new BufferBudget(1_000_000), pool);
const blockOf = (payload: Payload) => payload.bytes.buffer;
/** Whether the pool gives this memory to the next owner. */
const isFree = (block: ArrayBufferLike, length: number) => pool.acquire(length).buffer === block;

t.test('a payload that is consumed at once keeps the memory of its sender', async (t) => {
  const buffer = received();
  const payload = Payload.create('circuit', 0, 0, DATA);
  t.equal(buffer.receive(payload, true), 'accepted');
  t.equal(buffer.shift(), payload);
  buffer.release(payload);
  t.notOk(isFree(blockOf(payload), payload.bytes.length));
  const next = Payload.create('circuit', 1, 0, DATA);
  buffer.receive(next, true);
  buffer.clear();
  t.notOk(isFree(blockOf(next), next.bytes.length));
});

t.test('a payload that waits is a copy, whose memory returns to the pool once', async (t) => {
  const buffer = received();
  const payload = Payload.create('circuit', 0, 0, DATA);
  buffer.receive(payload, false);
  const copy = buffer.shift() as Payload;
  t.not(blockOf(copy), blockOf(payload));
  buffer.release(copy);
  buffer.release(copy);
  t.ok(isFree(blockOf(copy), copy.bytes.length));
  t.notOk(isFree(blockOf(copy), copy.bytes.length), 'only one owner');
});
