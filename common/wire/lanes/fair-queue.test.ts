// Flows that wait for one path: order within a flow, turns between owners and between their flows, no gain from many
// frames or flows.

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

/** A queue in which the name of a flow begins with that of its owner. */
function owned(): FairQueue {
  const queue = new FairQueue();
  queue.ownerOf = (flow) => String(flow).slice(0, 1);
  return queue;
}

/** Bytes that leave of each owner, out of `count` frames. `refill` is called with the flow of each. */
function shares(queue: FairQueue, count: number, refill?: (flow: string) => void): Record<string, number> {
  const sent: Record<string, number> = {};
  for (let index = 0; index < count; index++) {
    const next = queue.shift();
    if (!next) break;
    const flow = String(next.flow);
    const owner = flow.slice(0, 1);
    sent[owner] = (sent[owner] ?? 0) + next.frame.bytes.length;
    refill?.(flow);
  }
  return sent;
}

t.test('an owner of sixty flows gets as much as the owner of one', async (t) => {
  const queue = owned();
  for (let index = 0; index < 60; index++)
    for (let frames = 0; frames < 10; frames++) queue.push(`x${index}`, frame(32 * KIB));
  for (let frames = 0; frames < 200; frames++) queue.push('y', frame(8 * KIB));
  const { x = 0, y = 0 } = shares(queue, 200);
  t.ok(Math.abs(x - y) <= 64 * KIB, `${x} and ${y}`);
});

t.test('the flows of an owner share its turns, beside other owners', async (t) => {
  const queue = owned();
  for (let frames = 0; frames < 100; frames++) for (const flow of ['x1', 'x2', 'y']) queue.push(flow, frame(16 * KIB));
  const flows = order(queue, 100);
  const of = (name: string) => flows.filter((flow) => flow === name).length;
  t.same([of('x1'), of('x2'), of('y')], [25, 25, 50]);
});

t.test('a new flow of a busy owner goes first, at the expense of its owner', async (t) => {
  const queue = owned();
  for (let frames = 0; frames < 50; frames++) for (const flow of ['x', 'y', 'z']) queue.push(flow, frame(16 * KIB));
  order(queue, 7);
  queue.push('z new', frame(100));
  t.equal(queue.shift()?.flow, 'z new');
  let flows = 0;
  const { x = 0, y = 0 } = shares(queue, 60, (flow) => {
    if (flow.startsWith('x')) queue.push(`x${++flows}`, frame(16 * KIB));
  });
  t.ok(Math.abs(x - y) <= 32 * KIB, `always new flows: ${x} and ${y}`);
});

t.test('always new flows of an owner neither hold back its others, nor leave places behind', async (t) => {
  const queue = owned();
  for (let frames = 0; frames < 1_000; frames++) for (const flow of ['x', 'y']) queue.push(flow, frame(16 * KIB));
  let flows = 0;
  let others = 0;
  for (let turn = 0; turn < 1_000; turn++) {
    while (queue.bytesOfOwner('x') < 1_032 * 16 * KIB) queue.push(`x${++flows}`, frame(16 * KIB));
    if (queue.shift()?.flow === 'x') others++;
  }
  t.ok(others >= 200, `${others} frames of a flow that is not new`);
  let left = 0;
  for (let flow = 1; flow <= flows; flow++) if (queue.bytesOf(`x${flow}`) === 0 && queue.isActive(`x${flow}`)) left++;
  t.ok(left <= 2, `${left} places of ${flows} flows`);
});

t.test('an owner of which nothing waits at its turn still pays for a large frame', async (t) => {
  const queue = owned();
  for (let frames = 0; frames < 400; frames++) queue.push('y', frame(16 * KIB));
  queue.push('x', frame(64 * KIB));
  const sent = { x: 0, y: 0 };
  for (let index = 0; index < 200; index++) {
    const next = queue.shift();
    if (!next) break;
    sent[String(next.flow) as 'x' | 'y'] += next.frame.bytes.length;
    // Its next frame comes after its turn has passed.
    if (next.flow === 'y' && queue.bytesOfOwner('x') === 0 && !queue.isActive('x')) queue.push('x', frame(64 * KIB));
  }
  t.ok(sent.x <= sent.y + 64 * KIB, `${sent.x} and ${sent.y}`);
});

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
      queue.ownerOf = (flow) => (flow === 'c' ? 'other' : '');
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
