// Every short history of a writer and a reader against a list: what arrives, in order, and when there is room.

import fc from 'fast-check';
import t from 'tap';
import { createRing, RingReader, RingWriter } from './ring.ts';

const SMALLEST = 64;
type Step = 'publish' | 'next' | 'release' | number;

interface Written {
  readonly kind: number;
  readonly length: number;
}

/** Bytes that a shorter record has at least. */
const LEAST = 4;

/**
 * Carries out the steps; a number writes a record of so many bytes, a negative one at most so many. Throws at the first
 * difference from the list.
 */
function carryOut(steps: readonly Step[], bytes: number): void {
  const memory = createRing(bytes);
  const writer = new RingWriter(memory);
  const reader = new RingReader(memory);
  /** Complete ones, and how many of them are published, read and released. */
  const records: Written[] = [];
  let [published, read, released] = [0, 0, 0];
  let isWaiting = false;
  const check = (isRight: boolean, what: string) => {
    if (!isRight) throw new Error(`${what} after ${steps.join(' ')}`);
  };
  for (const step of steps) {
    if (step === 'publish') {
      check(writer.publish() === published < records.length, 'publish told wrongly whether something is new');
      published = records.length;
    } else if (step === 'next') {
      const hasNext = reader.next();
      check(hasNext === read < published, 'wrong number of records');
      if (!hasNext) continue;
      const { kind, length } = records[read++] as Written;
      check(reader.kind === kind && reader.data.length === length, 'another record');
    } else if (step === 'release') {
      check(reader.release() === isWaiting, 'release told wrongly whether the writer waits');
      isWaiting = false;
      released = read;
    } else {
      const most = Math.abs(step);
      const least = step < 0 ? Math.min(most, LEAST) : most;
      const room = writer.reserve(most, least);
      const held = records.slice(released).reduce((sum, { length }) => sum + length, 0);
      if (!room) {
        check(held + most > 0 && records.length > released, 'no room in an empty ring');
        isWaiting = true;
        continue;
      }
      check(held + room.length <= bytes, 'more room than there is memory');
      check(room.length >= least && room.length <= most, 'room for another number of bytes');
      room.fill(records.length & 0xff);
      writer.commit(records.length, room.length);
      records.push({ kind: records.length, length: room.length });
    }
    // The record stays as it was written until its release, whatever the writer does meanwhile.
    const current = records[read - 1];
    if (read > released && current)
      check(
        reader.data.every((byte) => byte === (current.kind & 0xff)),
        'the record was overwritten',
      );
  }
}

t.test('a ring is a list of records, in every history of up to six steps', async () => {
  const steps: Step[] = [0, 9, 24, -24, 'publish', 'next', 'release'];
  const history: Step[] = [];
  const extend = (left: number) => {
    carryOut(history, SMALLEST);
    if (left === 0) return;
    for (const step of steps) {
      history.push(step);
      extend(left - 1);
      history.pop();
    }
  };
  extend(6);
  // Longer ones begin with a record that was read, so that the next ones pass the end of the memory.
  history.push(24, 'publish', 'next', 'release');
  extend(5);
});

t.test('random histories of records of all lengths', async () => {
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.integer({ min: -248, max: 248 }) },
    { weight: 4, arbitrary: fc.constantFrom<Step[]>('publish', 'next', 'next', 'release') },
  );
  fc.assert(fc.property(fc.array(step, { maxLength: 300 }), (steps) => carryOut(steps as Step[], 512)));
});

t.test('positions may pass 2³²', async (t) => {
  const memory = createRing(64 * 1024 * 1024);
  const writer = new RingWriter(memory);
  const reader = new RingReader(memory);
  for (let index = 0; index < 300; index++) {
    const room = writer.reserve(writer.maxRecord - (index % 3));
    if (!room) throw new Error(`no room for record ${index}`);
    room[0] = index;
    writer.commit(index, room.length);
    writer.publish();
    if (!reader.next() || reader.kind !== index || reader.data[0] !== (index & 0xff) || reader.next())
      throw new Error(`record ${index} did not arrive`);
    reader.release();
  }
  t.equal(writer.used, 0);
});

t.test('a record is at most half of the memory, and the memory a power of two', async (t) => {
  const writer = new RingWriter(createRing(SMALLEST));
  t.equal(writer.maxRecord, 24);
  t.throws(() => writer.reserve(25), { message: /25 bytes does not fit/ });
  for (const bytes of [0, 32, 65, 96, 128 * 1024 * 1024]) t.throws(() => createRing(bytes), { code: 'INVARIANT' });
});

t.test('the hint is the last one, in no order with records', async (t) => {
  const memory = createRing(SMALLEST);
  const reader = new RingReader(memory);
  t.equal(reader.hint, 0);
  new RingWriter(memory).hint = 8_192;
  t.equal(reader.hint, 8_192);
});
