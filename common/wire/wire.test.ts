// The wire format against recorded bytes, and against invalid input.

import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import t from 'tap';
import { formatVersionInfo, parseVersionInfo, versionAtLeast } from './channel/version-info.ts';
import { FrameReader, HELLO_LIMITS, WrongMagicError } from './connection/frame-reader.ts';
import { ProtocolError } from './errors.ts';
import { FRAME_HEAD_LENGTH, Frame, removeHeader } from './frame.ts';
import { PayloadFlag, XgressHeader, XgressType } from './gen/numbers.ts';
import * as values from './header-values.ts';
import { asReply, Message } from './message.ts';
import { Acknowledgement, Payload } from './xgress-frames.ts';

interface RecordedMessage {
  name: string;
  contentType: number;
  sequence: number;
  headers: Record<string, string>;
  bodyHex: string;
  wireHex: string;
}

const RECORDED = (
  JSON.parse(readFileSync(new URL('../../test/vectors/wire.json', import.meta.url), 'utf8')) as {
    messages: RecordedMessage[];
  }
).messages;
const LIMITS = { maxHeaders: 1 << 20, maxBody: 1 << 20 };

function recorded(name: string): RecordedMessage {
  const found = RECORDED.find((each) => each.name === name);
  if (!found) throw new Error(`there is no vector ${name}`);
  return found;
}

function frames(chunks: readonly Buffer[], limits = LIMITS): Frame[] {
  const reader = new FrameReader(limits);
  const found: Frame[] = [];
  for (const chunk of chunks) reader.push(chunk, (frame) => (found.push(frame), true));
  return found;
}

function only<T>(list: readonly T[]): T {
  const [first] = list;
  if (list.length !== 1 || first === undefined) throw new Error(`expected one, got ${list.length}`);
  return first;
}

t.test('recorded messages are decoded as intended', async (t) => {
  for (const { name, contentType, sequence, headers, bodyHex, wireHex } of RECORDED) {
    const message = Message.fromFrame(only(frames([Buffer.from(wireHex, 'hex')])));
    t.equal(message.contentType, contentType, `${name}: content type`);
    t.equal(message.sequence, sequence, `${name}: sequence`);
    t.equal(message.body.toString('hex'), bodyHex, `${name}: body`);
    t.same(Object.fromEntries([...message.headers].map(([key, value]) => [key, value.toString('hex')])), headers, name);
  }
});

t.test('messages are encoded byte for byte as recorded', async (t) => {
  for (const { name, contentType, sequence, headers, bodyHex, wireHex } of RECORDED) {
    const entries = Object.entries(headers).map(([key, value]) => [Number(key), Buffer.from(value, 'hex')] as const);
    const message = new Message(contentType, entries, Buffer.from(bodyHex, 'hex'));
    message.sequence = sequence;
    t.equal(message.encode().toString('hex'), wireHex, name);
  }
});

t.test('frames are found wherever the stream is split', async (t) => {
  const stream = Buffer.concat(RECORDED.slice(0, 4).map(({ wireHex }) => Buffer.from(wireHex, 'hex')));
  const whole = RECORDED.slice(0, 4).map(({ wireHex }) => wireHex);
  for (let cut = 0; cut <= stream.length; cut++) {
    const found = frames([stream.subarray(0, cut), stream.subarray(cut)]).map(({ bytes }) => bytes.toString('hex'));
    if (found.join() !== whole.join()) t.fail(`cut at ${cut}`);
  }
  const single = frames([...stream].map((byte) => Buffer.from([byte]))).map(({ bytes }) => bytes.toString('hex'));
  t.same(single, whole, 'byte by byte');
});

t.test('a stopped reader returns the remaining bytes', async (t) => {
  const stream = Buffer.concat(RECORDED.slice(0, 2).map(({ wireHex }) => Buffer.from(wireHex, 'hex')));
  const rest = new FrameReader(LIMITS).push(stream, () => false);
  t.equal(rest?.toString('hex'), RECORDED[1]?.wireHex);
});

t.test('an invalid frame is rejected as early as possible', async (t) => {
  const head = (headers: number, body: number) => {
    const bytes = Buffer.alloc(FRAME_HEAD_LENGTH);
    bytes.writeUInt32LE(0x0c090603, 0);
    bytes.writeUInt32LE(headers, 12);
    bytes.writeUInt32LE(body, 16);
    return bytes;
  };
  t.throws(() => frames([Buffer.from('GET / HTTP/1.1\r\n')]), WrongMagicError, 'another protocol');
  t.throws(
    () => frames([Buffer.from('0306090d', 'hex')]),
    WrongMagicError,
    'another version, from its first four bytes',
  );
  t.throws(() => frames([head(16_385, 0)], HELLO_LIMITS), ProtocolError, 'too large a header block');
  t.throws(() => frames([head(0, 4_193)], HELLO_LIMITS), ProtocolError, 'too large a body');
  t.throws(() => frames([head(0xffff_ffff, 0xffff_ffff)]), ProtocolError, 'lengths of gigabytes');
  t.equal(frames([head(16_384, 4_192)], HELLO_LIMITS).length, 0, 'the largest hello is waited for');
});

t.test('a content type may have a limit of its own', async (t) => {
  const limits = { maxHeaders: 100, maxBody: 1_000, maxBodies: new Map([[7, 2_000]]) };
  const read = (type: number, length: number) => frames([new Message(type, [], Buffer.alloc(length)).encode()], limits);
  t.equal(read(7, 2_000).length, 1);
  t.throws(() => read(7, 2_001), { message: /2001 bytes in a message of type 7 exceeds the limit of 2000/ });
  t.equal(read(8, 1_000).length, 1);
  t.throws(() => read(8, 1_001), ProtocolError);
});

t.test('a length in a head does not allocate memory', async (t) => {
  const reader = new FrameReader({ maxHeaders: 1 << 30, maxBody: 1 << 30 });
  const head = Buffer.alloc(FRAME_HEAD_LENGTH);
  head.writeUInt32LE(0x0c090603, 0);
  head.writeUInt32LE(1 << 29, 16);
  const before = process.memoryUsage().arrayBuffers;
  for (let index = 0; index < 100; index++)
    new FrameReader({ maxHeaders: 1 << 30, maxBody: 1 << 30 }).push(head, () => true);
  reader.push(head, () => true);
  t.ok(process.memoryUsage().arrayBuffers - before < 100 * 1024 * 1024);
  t.equal(reader.pending, FRAME_HEAD_LENGTH);
});

t.test('invalid header blocks are rejected', async (t) => {
  const message = new Message(5, [[7, 'value']]).encode();
  const longer = Buffer.from(message);
  longer.writeUInt32LE(6, FRAME_HEAD_LENGTH + 4);
  t.throws(() => Message.fromFrame(only(frames([longer]))), /exceeds/);
  const shorter = Buffer.from(message);
  shorter.writeUInt32LE(1, FRAME_HEAD_LENGTH + 4);
  t.throws(() => Message.fromFrame(only(frames([shorter]))), /middle of an entry|runs past/);
});

t.test('a header is removed in place, wherever and however often it stands', async (t) => {
  const entries: [number, string][][] = [
    [
      [7, 'gone'],
      [1, 'a'],
      [2, ''],
    ],
    [
      [1, 'a'],
      [7, ''],
      [2, ''],
    ],
    [
      [1, 'a'],
      [2, ''],
      [7, 'x'.repeat(300)],
    ],
  ];
  entries.push(
    [
      [7, 'x'],
      [7, ''],
      [1, 'a'],
      [7, 'yy'],
      [2, ''],
    ],
    [[7, 'only']],
    [[1, 'a']],
    [],
  );
  for (const headers of entries) {
    const frame = new Frame(encoded(5, headers, 'the body'));
    const { buffer } = frame.bytes;
    const shorter = removeHeader(frame, 7);
    t.same(
      shorter.bytes,
      encoded(
        5,
        headers.filter(([key]) => key !== 7),
        'the body',
      ),
    );
    t.equal(shorter.bytes.buffer, buffer);
    t.equal(shorter.body.toString(), 'the body');
  }
});

/** Encodes repeated keys, too. */
function encoded(contentType: number, headers: readonly [number, string][], body: string): Buffer {
  const parts = headers.map(([key, value]) => new Message(0, [[key, value]]).encode().subarray(FRAME_HEAD_LENGTH));
  const block = Buffer.concat(parts);
  const frame = new Message(contentType, [], body).encode();
  frame.writeUInt32LE(block.length, 12);
  return Buffer.concat([frame.subarray(0, FRAME_HEAD_LENGTH), block, frame.subarray(FRAME_HEAD_LENGTH)]);
}

t.test('garbage causes only protocol errors', async (t) => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), fc.boolean(), (bytes, withMagic) => {
      const chunk = Buffer.from(bytes);
      if (withMagic && chunk.length >= 4) chunk.writeUInt32LE(0x0c090603, 0);
      try {
        for (const frame of frames([chunk])) {
          Message.fromFrame(frame);
          Payload.fromFrame(frame);
          Acknowledgement.fromFrame(frame);
        }
      } catch (error) {
        if (!(error instanceof ProtocolError)) throw error;
      }
    }),
    { numRuns: 2_000 },
  );
  t.pass('2000 runs');
});

t.test('any message survives encoding and decoding', async (t) => {
  const entry = fc.tuple(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }), fc.uint8Array({ maxLength: 40 }));
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 2 ** 31 - 1 }),
      fc.array(entry, { maxLength: 8 }),
      fc.uint8Array({ maxLength: 200 }),
      (type, headers, body) => {
        const sent = new Message(type, headers, body);
        const got = Message.fromFrame(only(frames([sent.encode()])));
        return (
          got.contentType === type &&
          got.body.equals(sent.body) &&
          [...sent.headers].every(([key, value]) => got.headers.get(key)?.equals(value))
        );
      },
    ),
  );
  t.pass('round trips');
});

t.test('a reply names its request and keeps the correlation', async (t) => {
  const request = new Message(1005, [[128, 'correlation']]);
  request.sequence = 42;
  const reply = asReply(request, new Message(1022));
  t.equal(reply.replyFor, 42);
  t.equal(reply.string(128), 'correlation');
});

t.test('header values: exact lengths in both directions', async (t) => {
  fc.assert(
    fc.property(
      fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
      (value) => values.decodeInt32(values.encodeInt32(value)) === value,
    ),
  );
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 2 ** 32 - 1 }),
      (value) => values.decodeUint32(values.encodeUint32(value)) === value,
    ),
  );
  fc.assert(
    fc.property(
      fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
      (value) => values.decodeUint64(values.encodeUint64(value)) === value,
    ),
  );
  t.equal(values.encodeStringList(['a', 'bc']).toString('hex'), '020000000100000061020000006263');
  t.equal(values.encodeStringMap({ k: 'v', l: '' }).toString('hex'), '02000000010000006b0100000076010000006c00000000');
  t.same([values.encodeStringList([]).length, values.encodeStringMap({}).length], [0, 0], 'nothing is an empty value');
  fc.assert(
    fc.property(fc.uniqueArray(fc.integer({ min: 0, max: 62 })), (bits) => {
      const mask = values.encodeBitMask(bits);
      return Array.from({ length: 64 }, (_, bit) => bit).every(
        (bit) => values.hasBit(mask, bit) === bits.includes(bit),
      );
    }),
  );
  t.equal(values.decodeUint32(Buffer.alloc(3)), undefined, 'three bytes are not a number');
  t.equal(values.decodeBool(Buffer.from([1, 1])), false, 'two bytes are not a boolean');
  t.throws(() => values.decodeBytesMap(Buffer.from('ffffffff', 'hex')), ProtocolError, 'a map of four billion entries');
  t.throws(
    () => values.decodeBytesMap(Buffer.from('0100000001000000ffff0000', 'hex')),
    ProtocolError,
    'a missing value',
  );
  t.equal(
    values.encodeBitMask([1, 2, 4, 5, 6, 62]).toString('hex'),
    '4000000000000076',
    'the mask of the reference router',
  );
  t.equal(values.encodeBitMask([1, 2, 3, 4, 5, 6]).toString('hex'), '7e', 'and of its controller');
});

t.test('a payload without the header of flags has no flags', async (t) => {
  const headers: [number, Uint8Array | string][] = [
    [XgressHeader.CircuitId, 'circuit'],
    [XgressHeader.Sequence, values.encodeUint64(7n)],
  ];
  const plain = Payload.fromFrame(only(frames([new Message(XgressType.Payload, headers, 'x').encode()])));
  t.match(plain, { circuitId: 'circuit', sequence: 7, flags: 0 });
  t.notOk(plain.isFromTerminator);
});

t.test('payloads are decoded from recorded frames and encoded like them', async (t) => {
  const start = Payload.fromFrame(only(frames([Buffer.from(recorded('xgress-payload-circuit-start').wireHex, 'hex')])));
  t.equal(start.circuitId, 'aBcDeF123');
  t.equal(start.sequence, 0);
  t.ok(start.has(PayloadFlag.CircuitStart));
  t.equal(start.stamp, 0x1234);
  t.equal(start.headers()?.get(1)?.toString('hex'), '00000100');
  const data = Payload.fromFrame(only(frames([Buffer.from(recorded('xgress-payload-data-with-fin').wireHex, 'hex')])));
  t.equal(data.data.toString(), 'hello');
  t.ok(data.isFromTerminator);
  t.equal(data.sequence, 300);
  const made = Payload.create(
    'aBcDeF123',
    300,
    PayloadFlag.Originator,
    Buffer.from('hello'),
    new Map([[16, Buffer.from('01000000', 'hex')]]),
  );
  made.writeStamp(0x51234);
  made.bytes.writeInt32LE(8, 8);
  t.equal(made.bytes.toString('hex'), recorded('xgress-payload-data-with-fin').wireHex);
});

t.test('a retransmission is marked and otherwise equal', async (t) => {
  const first = Payload.create(
    'c',
    7,
    PayloadFlag.Originator,
    Buffer.from('data'),
    new Map([[16, Buffer.from([1, 0, 0, 0])]]),
  );
  const again = first.retransmission();
  t.ok(again.has(PayloadFlag.Retransmit));
  t.ok(again.isFromTerminator);
  t.equal(again.sequence, 7);
  t.equal(again.data.toString(), 'data');
  t.same(again.headers(), first.headers());
  t.notOk(first.has(PayloadFlag.Retransmit), 'the original is unchanged');
});

t.test('acknowledgements are decoded from recorded frames and encoded like them', async (t) => {
  const { wireHex, sequence } = recorded('xgress-ack');
  const read = Acknowledgement.fromFrame(only(frames([Buffer.from(wireHex, 'hex')])));
  t.same(read.sequences, [0, 1, 300]);
  t.equal(read.receiveBufferSize, 4096);
  const made = Acknowledgement.create(read.circuitId, read.flags, read.receiveBufferSize, read.stamp, read.sequences);
  made.bytes.writeInt32LE(sequence, 8);
  t.equal(made.bytes.toString('hex'), wireHex);
});

t.test('a circuit id of any characters survives encoding and decoding, and every sent byte was written', async (t) => {
  const frameOf = (bytes: Buffer): Frame => {
    const found: Frame[] = [];
    new FrameReader({ maxHeaders: 10_000, maxBody: 10_000 }).push(bytes, (frame) => found.push(frame) > 0);
    if (!found[0]) throw new Error('no frame');
    return found[0];
  };
  const id = fc.oneof(fc.string({ unit: 'binary', maxLength: 60 }), fc.constantFrom('ü', 'Kreis-ö€😀', 'aBcDeF123'));
  fc.assert(
    fc.property(id, (circuitId) => {
      const written = () => Payload.create(circuitId, 7, PayloadFlag.Eof, Buffer.alloc(0)).bytes;
      const acknowledged = () => Acknowledgement.create(circuitId, 2, 4096, 9, [1, 2]).bytes;
      const payload = Payload.fromFrame(frameOf(written()));
      const ack = Acknowledgement.fromFrame(frameOf(acknowledged()));
      return (
        payload.circuitId === circuitId.toWellFormed() &&
        ack.circuitId === payload.circuitId &&
        payload.sequence === 7 &&
        written().equals(written()) &&
        acknowledged().equals(acknowledged())
      );
    }),
  );
  t.throws(
    () => Payload.fromFrame(frameOf(Payload.create('x'.repeat(257), 0, 0, Buffer.alloc(0)).bytes)),
    ProtocolError,
  );
  t.throws(() => Acknowledgement.fromFrame(frameOf(Acknowledgement.create('x'.repeat(257), 0, 0, 0, []).bytes)), {
    name: 'ProtocolError',
  });
});

t.test('a sequence number that is negative or needs more than 31 bits is rejected', async (t) => {
  const head = Payload.create('circuit', 0, 0, Buffer.alloc(0)).bytes;
  const at = head.length - 8 - 2 - 8;
  const read = (low: number, high: number) => {
    head.writeUInt32LE(low, at);
    head.writeUInt32LE(high, at + 4);
    return Payload.fromFrame({ bytes: head, bodyOffset: head.length } as Frame).sequence;
  };
  t.equal(read(0x7fff_ffff, 0), 0x7fff_ffff);
  for (const [low, high] of [
    [0x8000_0000, 0],
    [0xffff_ffff, 0xffff_ffff],
    [5, 1],
  ] as const)
    t.throws(() => read(low, high), ProtocolError, `${high}, ${low}`);
});

t.test('version texts have five parts; development builds satisfy every minimum', async (t) => {
  const text = 'v2.1.0|abc|2026-01-01T00:00:00Z|linux|amd64';
  const info = parseVersionInfo(text);
  t.equal(info && formatVersionInfo(info), text);
  t.ok(parseVersionInfo('||||'), 'empty parts are allowed');
  for (const bad of ['v2.1.0|abc', `${text}|more`, '', undefined])
    t.equal(parseVersionInfo(bad), undefined, String(bad));
  const table: [string, string, boolean][] = [
    ['v1.6.6', 'v1.6.6', true],
    ['v1.6.5', 'v1.6.6', false],
    ['v2.0.0', 'v1.6.6', true],
    ['v1.10.0', 'v1.9.9', true],
    ['v0.0.0', 'v1.6.6', true],
    ['nonsense', 'v1.6.6', false],
  ];
  for (const [version, minimum, expected] of table)
    t.equal(versionAtLeast(version, minimum), expected, `${version} >= ${minimum}`);
});
