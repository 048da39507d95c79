// One direction of a proxied connection, with streams instead of sockets and a virtual clock.

import type { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import t from 'tap';
import { seededRandom } from '#lib/random.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import type { ConnectionRule } from '../faults/fault.ts';
import { Pump } from './pump.ts';

t.test('slices of one byte hold little memory: the source waits, and all bytes arrive in order', async (t) => {
  const clock = new VirtualClock();
  const [source, target] = [new PassThrough(), new PassThrough()];
  const rule = { slice: 1, sliceDelay: 1 } as ConnectionRule;
  const pump = new Pump({
    clock,
    random: seededRandom(1),
    source: source as unknown as Socket,
    target: target as unknown as Socket,
    rule: () => rule,
  });
  const received: Buffer[] = [];
  target.on('data', (bytes: Buffer) => received.push(bytes));
  const sent = Buffer.from(Array.from({ length: 40_000 }, (_none, index) => index % 251));
  source.write(sent.subarray(0, 20_000));
  source.write(sent.subarray(20_000));
  await new Promise(setImmediate);
  t.ok(source.isPaused(), 'after half of the bytes');
  t.ok(source.readableLength > 0, `${source.readableLength} bytes wait in the source`);
  while (Buffer.concat(received).length < sent.length) {
    await clock.advance(10_000);
    await new Promise(setImmediate);
  }
  t.ok(Buffer.concat(received).equals(sent));
  pump.close();
  t.same(clock.timers(), []);
});
