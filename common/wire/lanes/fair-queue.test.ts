// Flows that wait for one path: order within a flow, turns between them, and no gain from many frames.

import fc from 'fast-check';
import t from 'tap';
import { FairQueue } from './fair-queue.ts';

const KIB = 1024;

function frame(bytes: number, mark = 0) {
  const memory = Buffer.alloc(bytes);
  memory[0] = mark;
  return { bytes: memory, since: 0 };
}

/** Names of the flows in the order in which their frames leave. */
function order(queue: FairQueue, count = Number.POSITIVE_INFINITY): string[] {
  const flows: string[] = [];
  while (flows.length < count) {
    const next = queue.shift();
    if (!next) break;
    flows.push(String(next.flow));
  }
  return flows;
}

t.test('a flow with one frame leaves before flows that have waited for their next turn', async (t) => {
  const queue = new FairQueue();
  for (let index = 0; index < 20; index++) for (const flow of ['a', 'b']) queue.push(flow, frame(32 * KIB));
  order(queue, 6);
  queue.push('light', frame(100));
  t.equal(queue.shift()?.flow, 'light');
});

t.test('flows share by bytes, whatever the size of their frames', async (t) => {
  const queue = new FairQueue();
  for (let index = 0; index < 400; index++) queue.push('small', frame(4 * KIB));
  for (let index = 0; index < 25; index++) queue.push('large', frame(64 * KIB));
  const sent = { small: 0, large: 0 };
  for (let index = 0; index < 200; index++) {
    const next = queue.shift();
    if (next) sent[next.flow as 'small' | 'large'] += next.frame.bytes.length;
  }
  t.ok(Math.abs(sent.small - sent.large) <= 128 * KIB, `${sent.small} and ${sent.large}`);
});

t.test('a flow that adds its next frame when the last one leaves gains nothing', async (t) => {
  const queue = new FairQueue();
  for (let index = 0; index < 20; index++) queue.push('waiting', frame(16 * KIB));
  queue.push('refilled', frame(16 * KIB));
  const flows: string[] = [];
  for (let index = 0; index < 20; index++) {
    const next = queue.shift();
    if (!next) break;
    flows.push(String(next.flow));
    if (next.flow === 'refilled') queue.push('refilled', frame(16 * KIB));
  }
  t.ok(flows.filter((flow) => flow === 'waiting').length >= 9, flows.join(' '));
});

t.test('a flow has a place in the rotation until the queue settles', async (t) => {
  const queue = new FairQueue();
  queue.push('a', frame(KIB));
  t.equal(queue.bytesOf('a'), KIB);
  queue.shift();
  t.equal(queue.bytesOf('a'), 0);
  t.ok(queue.isActive('a'));
  queue.settle();
  t.notOk(queue.isActive('a'));
});

t.test('frames of a flow keep their order, none is lost, and counts are right', async () => {
  const step = fc.oneof(
    fc.record({ flow: fc.constantFrom('a', 'b', 'c'), size: fc.integer({ min: 1, max: 70 * KIB }) }),
    fc.constant(undefined),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const queue = new FairQueue();
      const model = new Map<string, number[]>();
      let mark = 0;
      const take = () => {
        const next = queue.shift();
        if (!next) return [...model.values()].every((marks) => marks.length === 0);
        return model.get(String(next.flow))?.shift() === next.frame.bytes[0];
      };
      for (const each of steps) {
        if (each) {
          mark = (mark + 1) % 256;
          queue.push(each.flow, frame(each.size, mark));
          model.set(each.flow, [...(model.get(each.flow) ?? []), mark]);
        } else if (!take()) return false;
        const waiting = [...model.values()].reduce((sum, marks) => sum + marks.length, 0);
        if (queue.length !== waiting) return false;
      }
      while (queue.length > 0) if (!take()) return false;
      return queue.bytes === 0 && queue.flows === 0;
    }),
  );
});
