// Records of frames: whatever pieces a connection delivers, the bytes arrive in order, and a record begins and ends
// with frames that fit into one.

import t from 'tap';
import { type Random, seededRandom } from '#lib/random.ts';
import { createRing, RingReader, RingWriter } from '#lib/threads/ring.ts';
import { FRAME_HEAD_LENGTH, frameLength, writeFrameHead } from '../../frame.ts';
import { FrameRecords } from './frame-records.ts';

const RING_BYTES = 8 * 1024;

function frame(random: Random, bodyLength: number): Buffer {
  const bytes = random.bytes(FRAME_HEAD_LENGTH + bodyLength);
  writeFrameHead(bytes, 1, 0, bodyLength);
  return bytes;
}

/** Passes the stream in random pieces to a reader that takes a random number of records at a time. */
function pass(stream: Buffer, random: Random, ringBytes = RING_BYTES): Buffer[] {
  const memory = createRing(ringBytes);
  const writer = new RingWriter(memory);
  const reader = new RingReader(memory);
  const frames = new FrameRecords(writer);
  const records: Buffer[] = [];
  const read = (most: number) => {
    writer.publish();
    for (let count = 0; count < most && reader.next(); count++) {
      records.push(Buffer.from(reader.data));
      reader.release();
    }
  };
  let hasRoom = true;
  for (let at = 0; at < stream.length || !hasRoom; ) {
    if (hasRoom) {
      const length = Math.ceil(random.next() ** 3 * 3_000);
      hasRoom = frames.push(stream.subarray(at, at + length));
      at += length;
    } else hasRoom = frames.retry();
    read(Math.floor(random.next() * 4));
  }
  while (!frames.end()) read(1);
  read(Number.POSITIVE_INFINITY);
  return records;
}

/** The length of the frames of a record together; NaN if it does not begin with one. */
function wholeFrames(record: Buffer): number {
  let at = 0;
  while (at < record.length) at += frameLength(record.subarray(at)) ?? Number.NaN;
  return at;
}

t.test('frames of any size arrive whole in any pieces, as far as they fit into a record', async (t) => {
  for (let seed = 1; seed <= 300; seed++) {
    const random = seededRandom(seed);
    const most = RING_BYTES / 2 - 8 - FRAME_HEAD_LENGTH;
    const all = Array.from({ length: 40 }, () => frame(random, Math.floor(random.next() ** 4 * most)));
    const records = pass(Buffer.concat(all), random);
    if (!Buffer.concat(records).equals(Buffer.concat(all))) t.fail(`seed ${seed}: other bytes`);
    for (const record of records)
      if (wholeFrames(record) !== record.length) t.fail(`seed ${seed}: a record ends within a frame`);
  }
});

t.test('frames that are larger than a record span several, and the next one begins a record again', async (t) => {
  const random = seededRandom(3);
  const large = frame(random, 3 * RING_BYTES);
  const small = frame(random, 10);
  for (let seed = 1; seed <= 50; seed++) {
    const records = pass(Buffer.concat([small, large, small, large, small]), seededRandom(seed));
    t.ok(Buffer.concat(records).equals(Buffer.concat([small, large, small, large, small])));
    t.ok(records.filter((record) => record.equals(small)).length >= 2);
  }
});

t.test('other bytes, and the beginning of a frame at the end, arrive too', async (t) => {
  const random = seededRandom(4);
  const begun = frame(random, 500);
  for (const tail of [
    Buffer.alloc(3 * RING_BYTES, 'x'),
    begun.subarray(0, 300),
    begun.subarray(0, 7),
    Buffer.alloc(2),
  ]) {
    const stream = Buffer.concat([frame(random, 100), tail]);
    t.ok(Buffer.concat(pass(stream, random)).equals(stream), `${tail.length} bytes`);
  }
});

t.test('what has arrived of a stream without frames does not wait for more', async (t) => {
  const memory = createRing(RING_BYTES);
  const writer = new RingWriter(memory);
  const reader = new RingReader(memory);
  new FrameRecords(writer).push(Buffer.from('GET / HTTP/1.1\r\n'));
  writer.publish();
  t.ok(reader.next());
  t.equal(reader.data.toString(), 'GET / HTTP/1.1\r\n');
});
