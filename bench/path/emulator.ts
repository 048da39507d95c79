// An emulated wide-area path between two TUN devices, as a program: each packet that enters one device leaves the other
// one after a delay, at a limited rate, through a queue of limited length, and some packets are lost. If wanted, the
// delay jitters, packets leave in bursts, the rate walks, a policer takes the place of the queue. Both directions are
// independent, and equal but for their rates.
//
//   device A ─► queue ─► rate ─► delay ─► device B        the same from B to A
//
// Arguments: the names of both devices. It prints `ready`, then reads a shape as JSON from each line of its standard
// input, and applies it at once. It ends with its standard input. It needs Linux and root.

import { systemLibrary } from '#lib/process/system-library.ts';
import { seededRandom } from '#lib/random.ts';
import { Jitter, Walk } from '../../test/support/rooms/unsteady-path.ts';
import type { PathShape } from './paths.ts';

type Calls = Readonly<{
  open(path: Buffer, flags: number): number;
  ioctl(fd: number, request: bigint, value: Buffer): number;
  read(fd: number, into: Buffer, length: bigint): bigint;
  write(fd: number, from: Buffer, length: bigint): bigint;
  ppoll(polled: Buffer, count: bigint, timeout: Buffer, mask: bigint): number;
}>;

const SIGNATURES = {
  open: { arguments: ['buffer', 'i32'], return: 'i32' },
  ioctl: { arguments: ['i32', 'u64', 'buffer'], return: 'i32' },
  read: { arguments: ['i32', 'buffer', 'u64'], return: 'i64' },
  write: { arguments: ['i32', 'buffer', 'u64'], return: 'i64' },
  ppoll: { arguments: ['buffer', 'u64', 'buffer', 'u64'], return: 'i32' },
};
const O_RDWR = 2;
const O_NONBLOCK = 0o4000;
const TUNSETIFF = 0x400454can;
const IFF_TUN = 1;
const IFF_NO_PI = 0x1000;
const NAME_LENGTH = 16;
const REQUEST_LENGTH = 40;
const POLLIN = 1;
const POLL_ENTRY = 8;
const STDIN = 0;
/** Packets on the way in one direction: enough for 1 Gbit/s and 200 ms. */
const SLOTS = 1 << 14;
const PACKET = 1_600;
/** Packets that are read before others are written. */
const BURST = 64;
const IDLE = 1_000;
/** Milliseconds between two delays of a path that jitters. */
const JITTER_INTERVAL = 8;
/** All subjects meet the same rates. */
const WALK_SEED = 6;
/** Milliseconds of an outage. */
const OUTAGE = 20;

const library = systemLibrary<Calls>(SIGNATURES);
const { functions: calls } = library;

/** Times in milliseconds. */
class Way {
  readonly from: number;
  readonly to: number;
  readonly #isBack: boolean;
  readonly #slots = Array.from({ length: SLOTS }, () => Buffer.alloc(PACKET));
  readonly #sizes = new Int32Array(SLOTS);
  readonly #due = new Float64Array(SLOTS);
  #head = 0;
  #length = 0;
  #busyUntil = 0;
  #lastDue = 0;
  readonly #jitter = new Jitter(Math.random);
  readonly #walk = new Walk(seededRandom(WALK_SEED).next);
  /** Bytes in the bucket of a policer, and since when. */
  #tokens = 0;
  #filledAt = 0;
  #outageAt = 0;

  constructor(from: number, to: number, isBack: boolean) {
    this.from = from;
    this.to = to;
    this.#isBack = isBack;
  }

  /** When the next packet arrives; Infinity if none is on the way. */
  get next(): number {
    return this.#length === 0 ? Number.POSITIVE_INFINITY : (this.#due[this.#head] as number);
  }

  /** Reads the packets that have entered. Lost packets and those that the queue has no place for end here. */
  accept(shape: PathShape): void {
    for (let count = 0; count < BURST; count++) {
      const slot = (this.#head + this.#length) % SLOTS;
      const size = Number(calls.read(this.from, this.#slots[slot] as Buffer, BigInt(PACKET)));
      if (size <= 0) return;
      const now = performance.now();
      const isLost = Math.random() * 100 < shape.loss || this.#isOutage(now, shape);
      const leaves = isLost || this.#length === SLOTS - 1 ? undefined : this.#leaves(now, size, shape);
      if (leaves === undefined) continue;
      this.#sizes[slot] = size;
      const extra = shape.jitter === undefined ? 0 : this.#jitter.at(now, shape.jitter, JITTER_INTERVAL);
      this.#lastDue = Math.max(this.#lastDue, leaves + shape.delay + extra);
      this.#due[slot] = this.#lastDue;
      this.#length++;
    }
  }

  /** Returns when the limit of the rate lets a packet pass; undefined if the queue or the bucket rejects it. */
  #leaves(now: number, size: number, shape: PathShape): number | undefined {
    const { rate, rateBack = rate, queue, policer, bursts, walk } = shape;
    const share = walk === undefined ? 1 : this.#walk.at(now, walk);
    const perMillisecond = (this.#isBack ? rateBack : rate) * share * 125;
    if (policer !== undefined) {
      this.#tokens = Math.min(policer, this.#tokens + (now - this.#filledAt) * perMillisecond);
      this.#filledAt = now;
      if (this.#tokens < size) return undefined;
      this.#tokens -= size;
      return now;
    }
    const start = Math.max(now, this.#busyUntil);
    if (start - now > queue) return undefined;
    this.#busyUntil = start + size / perMillisecond;
    return bursts === undefined ? this.#busyUntil : Math.ceil(this.#busyUntil / bursts) * bursts;
  }

  #isOutage(now: number, { outages }: PathShape): boolean {
    if (outages === undefined) return false;
    if (now > this.#outageAt + OUTAGE) this.#outageAt = now + 2 * outages * Math.random();
    return now >= this.#outageAt;
  }

  /** Writes the packets that have arrived. */
  deliver(now: number): void {
    while (this.#length > 0 && this.next <= now) {
      calls.write(this.to, this.#slots[this.#head] as Buffer, BigInt(this.#sizes[this.#head] as number));
      this.#head = (this.#head + 1) % SLOTS;
      this.#length--;
    }
  }
}

function openDevice(name: string): number {
  const fd = library.check('open /dev/net/tun', calls.open(Buffer.from('/dev/net/tun\0'), O_RDWR | O_NONBLOCK));
  const request = Buffer.alloc(REQUEST_LENGTH);
  request.write(name, 0, NAME_LENGTH - 1, 'latin1');
  request.writeUInt16LE(IFF_TUN | IFF_NO_PI, NAME_LENGTH);
  library.check(`create the device ${name}`, calls.ioctl(fd, TUNSETIFF, request));
  return fd;
}

/** Returns the newest shape; undefined if the input has ended. */
class Shapes {
  #text = '';
  readonly #memory = Buffer.alloc(4_096);

  read(current: PathShape): PathShape | undefined {
    const length = Number(calls.read(STDIN, this.#memory, BigInt(this.#memory.length)));
    if (length === 0) return undefined;
    this.#text += this.#memory.toString('utf8', 0, Math.max(0, length));
    const lines = this.#text.split('\n');
    this.#text = lines.pop() ?? '';
    const newest = lines.at(-1);
    return newest === undefined ? current : (JSON.parse(newest) as PathShape);
  }
}

function run([first = '', second = '']: readonly string[]): void {
  const [a, b] = [openDevice(first), openDevice(second)];
  const ways = [new Way(a, b, false), new Way(b, a, true)];
  const polled = Buffer.alloc(3 * POLL_ENTRY);
  for (const [index, fd] of [a, b, STDIN].entries()) {
    polled.writeInt32LE(fd, index * POLL_ENTRY);
    polled.writeInt16LE(POLLIN, index * POLL_ENTRY + 4);
  }
  const isReadable = (index: number) => polled.readInt16LE(index * POLL_ENTRY + 6) !== 0;
  const timeout = Buffer.alloc(16);
  const shapes = new Shapes();
  let shape: PathShape | undefined = { rate: 1_000, delay: 0, queue: 100, loss: 0 };
  process.stdout.write('ready\n');
  while (shape) {
    const now = performance.now();
    if (!shape.isStopped) for (const way of ways) way.deliver(now);
    const next = shape.isStopped ? now + 1 : Math.min(now + IDLE, ...ways.map((way) => way.next));
    const wait = Math.max(0, next - performance.now());
    timeout.writeBigInt64LE(BigInt(Math.floor(wait / 1_000)), 0);
    timeout.writeBigInt64LE(BigInt(Math.floor((wait % 1_000) * 1e6)), 8);
    calls.ppoll(polled, 3n, timeout, 0n);
    for (const [index, way] of ways.entries()) if (isReadable(index)) way.accept(shape);
    if (isReadable(2)) shape = shapes.read(shape);
  }
}

run(process.argv.slice(2));
process.exit();
