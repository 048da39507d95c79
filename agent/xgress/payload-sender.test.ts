// Retransmissions over a full link: they wait for places, and go before new data.

import t from 'tap';
import { BufferBudget } from '#lib/queue/buffer-budget.ts';
import { BufferPool } from '#lib/queue/buffer-pool.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import type { Payload } from '#wire/xgress-frames.ts';
import { defaultXgressOptions } from '../config/xgress-defaults.ts';
import { type Destination, type ForwardOutcome, PayloadOrigin } from '../forwarder/destination.ts';
import { MetricsRegistry } from '../metrics/registry.ts';
import { PayloadSender } from './payload-sender.ts';
import { registryXgressMetrics } from './registry-metrics.ts';

/** A sender whose link has a limited number of places. */
function rooms() {
  const clock = new VirtualClock();
  const sent: string[] = [];
  const waiting: (() => void)[] = [];
  let places = 0;
  const take = (payload: Payload, origin: PayloadOrigin): ForwardOutcome => {
    if (places === 0) return 'full';
    places--;
    sent.push(origin === PayloadOrigin.Retransmission ? `${payload.sequence} again` : `${payload.sequence}`);
    return 'sent';
  };
  /** Time before which all payloads have left the link; undefined if it is unknown. */
  const link: { deliveredBefore: number | undefined } = { deliveredBefore: undefined };
  const hop = {
    deliveredBefore: () => link.deliveredBefore,
    onceWritable: (_circuitId: string, task: () => void) => void waiting.push(task),
  } as unknown as Destination;
  const sender = new PayloadSender(
    {
      clock,
      buffers: new BufferPool(),
      forwarder: { forwardPayload: (_source, payload, origin) => take(payload, origin), nextHop: () => hop },
      budget: new BufferBudget(),
      metrics: registryXgressMetrics(new MetricsRegistry(clock, () => 0.5), () => []),
      onUnroutable: () => undefined,
    },
    {
      circuitId: 'circuit',
      address: 'end',
      role: 'initiator',
      options: defaultXgressOptions(),
      onWritable: () => undefined,
      onExhausted: () => undefined,
    },
  );
  /** Adds places, wakes those who wait, and returns the payloads that took the places. */
  const offer = (count: number) => {
    places = count;
    for (const task of waiting.splice(0)) task();
    return sent.splice(0);
  };
  return { clock, sender, waiting, offer, link };
}

t.test('retransmissions wait for places of a full link, and precede new data', async (t) => {
  const { clock, sender, waiting, offer } = rooms();
  offer(3);
  for (let count = 0; count < 4; count++) sender.send(0, Buffer.from('data'));
  t.same(offer(0), ['0', '1', '2'], 'the fourth waits');
  await clock.advance(10_000);
  sender.tick(clock.monotonic());
  t.equal(waiting.length, 1);
  t.same(offer(1), ['0 again']);
  t.same(offer(1), ['1 again']);
  t.same(offer(5), ['2 again', '3']);
  t.equal(waiting.length, 0);
});

t.test('a payload that is acknowledged while its retransmission waits is not sent again', async (t) => {
  const { clock, sender, offer } = rooms();
  offer(2);
  for (let count = 0; count < 2; count++) sender.send(0, Buffer.from('data'));
  offer(0);
  await clock.advance(10_000);
  sender.tick(clock.monotonic());
  const acknowledgement = { sequences: [0], receiveBufferSize: 0, stamp: 0 };
  sender.acknowledge(acknowledgement as unknown as Parameters<typeof sender.acknowledge>[0], clock.monotonic());
  t.same(offer(2), ['1 again']);
});

/** Acknowledges these payloads. @param receiveBufferSize Bytes that the peer's client has not consumed. */
function acknowledge(sender: PayloadSender, sequences: number[], now: number, receiveBufferSize = 0): void {
  const acknowledgement = { sequences, receiveBufferSize, stamp: 0 };
  sender.acknowledge(acknowledgement as unknown as Parameters<typeof sender.acknowledge>[0], now);
}

t.test('a payload that its link still carries is late, not lost', async (t) => {
  const { clock, sender, offer, link } = rooms();
  offer(1);
  sender.send(0, Buffer.from('data'));
  link.deliveredBefore = clock.monotonic();
  await clock.advance(60_000);
  sender.tick(clock.monotonic());
  t.same(offer(5), ['0'], 'a link that stands still delivers it later');
  link.deliveredBefore = clock.monotonic();
  sender.tick(clock.monotonic());
  await clock.advance(1_000);
  sender.tick(clock.monotonic());
  t.same(offer(5), ['0 again'], 'it has left the link, and nobody acknowledges it');
});

t.test('a payload is lost when later ones arrive', async (t) => {
  const { clock, sender, offer } = rooms();
  const sent = offer(1_000);
  sender.send(0, Buffer.from('data'));
  for (let count = 1; count <= 30; count++) {
    await clock.advance(20);
    sender.send(0, Buffer.from('data'));
    await clock.advance(20);
    acknowledge(sender, sent.includes('0 again') ? [0, count] : [count], clock.monotonic());
    sent.push(...offer(1_000));
  }
  t.equal(sent.filter((each) => each.endsWith('again')).length, 1, sent.join(' '));
  t.ok(sent.indexOf('0 again') < 20, 'soon');
});

t.test('a peer that acknowledges nothing gets a few payloads again, then all that it still lacks', async (t) => {
  const { clock, sender, offer } = rooms();
  offer(1_000);
  const block = Buffer.alloc(16 * 1024);
  for (let count = 0; count < 40; count++) sender.send(0, block);
  offer(1_000);
  await clock.advance(300);
  sender.tick(clock.monotonic());
  const first = offer(1_000);
  t.ok(first.length > 0 && first.length < 10, first.join(' '));
  await clock.advance(250);
  acknowledge(
    sender,
    first.map((each) => Number.parseInt(each, 10)),
    clock.monotonic(),
  );
  await clock.advance(400);
  sender.tick(clock.monotonic());
  t.ok(offer(1_000).length > first.length);
});

t.test('a payload that a slow connection of a router on the way delivers is not lost', async (t) => {
  const { clock, sender, offer } = rooms();
  const sent = offer(1_000);
  for (let count = 0; count < 60; count++) {
    sender.send(0, Buffer.from('data'));
    sent.push(...offer(1_000));
    await clock.advance(16);
    // The first one arrives when one has arrived that left 192 ms later.
    if (count > 0) acknowledge(sender, count === 12 ? [0, count] : [count], clock.monotonic());
    sent.push(...offer(1_000));
  }
  t.same(
    sent.filter((each) => each.endsWith('again')),
    [],
  );
});

t.test('a payload that did not fit into the buffer of the peer is repeated as soon as that has room', async (t) => {
  const full = 100 * 1024 * 1024;
  const { clock, sender, offer } = rooms();
  offer(100);
  sender.send(0, Buffer.from('data'));
  await clock.advance(10);
  acknowledge(sender, [0], clock.monotonic(), full);
  t.ok(sender.admits, 'one payload shows the peer that its sender waits');
  sender.send(0, Buffer.from('data'));
  t.notOk(sender.admits);
  t.same(offer(100), ['0', '1']);
  await clock.advance(4);
  acknowledge(sender, [], clock.monotonic());
  t.same(offer(100), [], 'its acknowledgement may still be on the way');
  sender.send(0, Buffer.from('data'));
  await clock.advance(20);
  acknowledge(sender, [2], clock.monotonic());
  t.same(offer(100), ['2', '1 again']);
  acknowledge(sender, [], clock.monotonic());
  t.same(offer(100), [], 'once');
  acknowledge(sender, [1], clock.monotonic(), full);
  sender.send(0, Buffer.from('data'));
  await clock.advance(20);
  acknowledge(sender, [3], clock.monotonic());
  t.same(offer(100), ['3'], 'the peer had room for it');
});
