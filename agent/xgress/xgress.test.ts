// Two ends of a circuit over a network that loses, duplicates, delays and reorders: all data arrives in order, and the
// circuit ends. Also the encryption of the ends, against recorded bytes.

import { readFileSync } from 'node:fs';
import t from 'tap';
import { sharedBuffers } from '#lib/buffer-pool.ts';
import { VirtualClock } from '#lib/clock.ts';
import { InvariantError } from '#lib/errors.ts';
import { type Random, seededRandom } from '#lib/random.ts';
import { PayloadFlag, PayloadHeader } from '#wire/gen/numbers.ts';
import { Acknowledgement, Payload } from '#wire/xgress-frames.ts';
import { defaultXgressOptions } from '../config/xgress-defaults.ts';
import type { ForwardOutcome } from '../forwarder/destination.ts';
import { BufferBudget } from './buffer-budget.ts';
import { DelayLimit } from './delay-limit.ts';
import { EncryptedStream, EncryptionError, makeKeyPair, sessionKeys } from './end-to-end.ts';
import type { XgressOptions } from './options.ts';
import { XgressTicker } from './ticker.ts';
import { Xgress } from './xgress.ts';
import type { CircuitOutcome, XgressClient } from './xgress-client.ts';
import type { CircuitRole, XgressMetrics } from './xgress-metrics.ts';
import {
  hasPeerEnded,
  isEnding,
  isReceiving,
  isRouted,
  isSending,
  nextXgressState,
  XGRESS_TRANSITIONS,
  type XgressEvent,
  type XgressState,
} from './xgress-states.ts';

interface ExpectedState {
  readonly next: Partial<Record<XgressEvent, XgressState>>;
  /** s: the client may send. r: it needs data. n: the network carries payloads. p: the peer ended. e: the end is near. */
  readonly facts: string;
}

t.test('an end of a circuit has exactly the expected transitions', async (t) => {
  const close = 'closed';
  const expected: Record<XgressState, ExpectedState> = {
    waiting: { facts: 'n', next: { start: 'open', close } },
    open: {
      facts: 'srn',
      next: { endSending: 'sendingEnded', endReceiving: 'receivingEnded', unroute: 'delivering', close },
    },
    sendingEnded: {
      facts: 'rn',
      next: { endReceiving: 'draining', discard: 'discarding', unroute: 'delivering', close },
    },
    receivingEnded: { facts: 'snp', next: { endSending: 'draining', unroute: 'delivered', close } },
    discarding: {
      facts: 'ne',
      next: { endReceiving: 'draining', discard: 'discarding', unroute: 'delivered', close },
    },
    draining: { facts: 'npe', next: { discard: 'draining', unroute: 'delivered', close } },
    delivering: { facts: 'r', next: { endReceiving: 'delivered', discard: 'delivered', close } },
    delivered: { facts: 'pe', next: { discard: 'delivered', close } },
    closed: { facts: '', next: {} },
  };
  t.same(Object.keys(XGRESS_TRANSITIONS), Object.keys(expected));
  const events: XgressEvent[] = ['start', 'endSending', 'endReceiving', 'discard', 'unroute', 'close'];
  const predicates = { s: isSending, r: isReceiving, n: isRouted, p: hasPeerEnded, e: isEnding };
  const factsOf = (state: XgressState) =>
    Object.entries(predicates).flatMap(([letter, holds]) => (holds(state) ? letter : []));
  for (const [state, { next, facts }] of Object.entries(expected) as [XgressState, ExpectedState][]) {
    t.equal(factsOf(state).join(''), facts, state);
    for (const event of events) {
      const after = next[event];
      if (!after) {
        t.throws(() => nextXgressState(state, event), InvariantError, `${event} in ${state}`);
        continue;
      }
      t.equal(nextXgressState(state, event), after, `${event} in ${state}`);
      const gained = factsOf(after).filter((fact) => !facts.includes(fact));
      if (state !== 'waiting') t.notMatch(gained.join(''), /[srn]/, `${event} in ${state} reopens no direction`);
      if (after !== 'closed' && facts.includes('p')) t.ok(hasPeerEnded(after), `${event} in ${state} keeps the end`);
    }
  }
});

interface Weather {
  /** Ratios of payloads and acknowledgements. */
  loss: number;
  duplication: number;
  /** Milliseconds, maximum. */
  delay: number;
}

const CALM: Weather = { loss: 0, duplication: 0, delay: 2 };

class TestClient implements XgressClient {
  length = 0;
  readonly #chunks: Buffer[] = [];
  ended = false;
  outcome: CircuitOutcome | '' = '';
  accepts = true;
  onWritable: () => void = () => undefined;
  onDeliver: () => void = () => undefined;

  deliver(data: Buffer): boolean {
    this.#chunks.push(data);
    this.onDeliver();
    this.length += data.length;
    return this.accepts;
  }

  get received(): Buffer {
    return Buffer.concat(this.#chunks);
  }

  end(): void {
    this.ended = true;
  }

  closed(outcome: CircuitOutcome): void {
    this.outcome = outcome;
  }

  writable(): void {
    this.onWritable();
  }
}

class Circuit {
  readonly clock = new VirtualClock();
  readonly ticker = new XgressTicker(this.clock);
  readonly budget: BufferBudget;
  readonly counts = { retransmitted: 0, duplicates: 0, payloads: 0, dropped: 0 };
  readonly clients = { initiator: new TestClient(), terminator: new TestClient() };
  readonly ends: Record<CircuitRole, Xgress>;
  /** Called for each payload; returns true to drop it. */
  drop: (payload: Payload) => boolean = () => false;
  readonly #random: Random;
  readonly #weather: Weather;

  constructor(weather: Weather, seed = 1, options: Partial<XgressOptions> = {}, budget = new BufferBudget()) {
    this.budget = budget;
    this.#weather = weather;
    this.#random = seededRandom(seed);
    this.ends = { initiator: this.#end('initiator', options), terminator: this.#end('terminator', options) };
  }

  start(): this {
    this.ends.terminator.start();
    this.ends.initiator.start();
    return this;
  }

  #end(role: CircuitRole, options: Partial<XgressOptions>): Xgress {
    const other = () => this.ends[role === 'initiator' ? 'terminator' : 'initiator'];
    const send = (deliver: () => void): ForwardOutcome => {
      const copies = this.#random.next() < this.#weather.duplication ? 2 : 1;
      for (let copy = 0; copy < copies; copy++) {
        if (this.#random.next() < this.#weather.loss) continue;
        this.clock.after('on its way', 1 + this.#random.next() * this.#weather.delay, deliver);
      }
      return 'sent';
    };
    const forwarder = {
      forwardPayload: (_source: string, payload: Payload) => {
        this.counts.payloads++;
        const copy = payload.copy();
        return this.drop(copy) ? 'sent' : send(() => void other().acceptPayload(copy));
      },
      forwardAcknowledgement: (_source: string, ack: Acknowledgement) =>
        send(() => void other().acceptAcknowledgement(ack)),
      forwardControl: () => 'sent' as const,
      nextHop: () => undefined,
    };
    const components = {
      clock: this.clock,
      ticker: this.ticker,
      budget: this.budget,
      forwarder,
      metrics: this.#metrics(),
      client: this.clients[role],
      onClosed: () => undefined,
      onUnroutable: () => undefined,
    };
    const init = {
      circuitId: 'circuit',
      address: role,
      role,
      hopType: 'xgress/test',
      options: { ...defaultXgressOptions(), ...options },
    };
    return new Xgress(components, init);
  }

  #metrics(): XgressMetrics {
    const count = this.counts;
    const nothing = () => undefined;
    return {
      sent: nothing,
      received: nothing,
      acknowledgementSent: nothing,
      acknowledgementFailed: nothing,
      acknowledgementReceived: nothing,
      duplicateAck: nothing,
      duplicatePayload: () => void count.duplicates++,
      droppedPayload: () => void count.dropped++,
      retransmitted: () => void count.retransmitted++,
      retransmissionFailed: nothing,
      blockedByWindow: nothing,
      blockedByPeer: nothing,
      blockedFor: nothing,
      clientPausedFor: nothing,
      relayDropped: nothing,
    };
  }

  /** Writes like a client that waits for `writable`. */
  feed(role: CircuitRole, data: Buffer, chunk: number, then: () => void = () => undefined): void {
    let offset = 0;
    const write = () => {
      while (offset < data.length) {
        const end = Math.min(data.length, offset + chunk);
        const more = this.ends[role].write(data.subarray(offset, end));
        offset = end;
        if (!more && offset < data.length) return;
      }
      this.clients[role].onWritable = () => undefined;
      then();
    };
    this.clients[role].onWritable = write;
    if (this.ends[role].canWrite) write();
  }

  /** Advances time until `done`, by `seconds` at most. */
  async until(done: () => boolean, seconds = 600): Promise<boolean> {
    for (let passed = 0; passed < seconds * 4 && !done(); passed++) await this.clock.advance(250);
    return done();
  }
}

function bytes(length: number, seed: number): Buffer {
  const block = seededRandom(seed).bytes(10_007);
  return Buffer.alloc(length, block);
}

t.test('both directions deliver all data in order over an unreliable network', async (t) => {
  const weathers: [string, Weather][] = [
    ['calm', CALM],
    ['slow', { loss: 0, duplication: 0, delay: 400 }],
    ['lossy', { loss: 0.2, duplication: 0, delay: 20 }],
    ['repeating and reordering', { loss: 0, duplication: 0.3, delay: 200 }],
    ['awful', { loss: 0.25, duplication: 0.25, delay: 150 }],
  ];
  for (const [name, weather] of weathers) {
    for (const seed of [1, 2, 3]) {
      const circuit = new Circuit(weather, seed, { circuitStartTimeout: 0 }).start();
      const up = bytes(150_000, seed);
      const down = bytes(90_000, seed + 100);
      await circuit.until(() => circuit.ends.initiator.canWrite);
      circuit.feed('initiator', up, 1_400);
      await circuit.until(() => circuit.ends.terminator.canWrite);
      circuit.feed('terminator', down, 900);
      const { initiator, terminator } = circuit.clients;
      const complete = await circuit.until(() => terminator.length >= up.length && initiator.length >= down.length);
      t.ok(complete && terminator.received.equals(up) && initiator.received.equals(down), `${name}, seed ${seed}`);
      if (weather === CALM) t.equal(circuit.counts.retransmitted, 0, 'no needless retransmissions');
    }
  }
});

t.test('each direction ends separately; after both, the circuit is closed and no timer is left', async (t) => {
  for (const weather of [CALM, { loss: 0.2, duplication: 0.1, delay: 60 }]) {
    const circuit = new Circuit(weather, 5, { circuitStartTimeout: 0 }).start();
    const { initiator, terminator } = circuit.clients;
    await circuit.until(() => circuit.ends.initiator.canWrite && circuit.ends.terminator.canWrite);
    circuit.feed('terminator', Buffer.from('first'), 10);
    await circuit.until(() => initiator.length > 0);
    circuit.feed('initiator', Buffer.from('question'), 100, () => circuit.ends.initiator.end());
    await circuit.until(() => terminator.ended);
    t.equal(terminator.received.toString(), 'question');
    t.notOk(circuit.ends.terminator.isClosed, 'the answer can still be sent');
    circuit.feed('terminator', Buffer.from(' and answer'), 100, () => circuit.ends.terminator.end());
    t.ok(await circuit.until(() => initiator.outcome === 'complete' && terminator.outcome === 'complete'), 'over');
    t.equal(initiator.received.toString(), 'first and answer');
    await circuit.clock.advance(1_000);
    t.equal(circuit.ticker.size, 0);
  }
});

t.test('a client that does not read stops the sender without losing data', async (t) => {
  const circuit = new Circuit(CALM, 7, { circuitStartTimeout: 0 }).start();
  const { terminator } = circuit.clients;
  await circuit.until(() => circuit.ends.initiator.canWrite);
  terminator.accepts = false;
  const data = bytes(16_000_000, 7);
  let written = false;
  circuit.feed('initiator', data, 16_000, () => {
    written = true;
  });
  await circuit.until(() => false, 20);
  t.notOk(written, 'the sender waits');
  const held = circuit.ends.initiator.unacknowledged.bytes + terminator.length;
  t.ok(held < 10_000_000, `${held} bytes are held at most`);
  terminator.accepts = true;
  circuit.ends.terminator.resume();
  t.ok(await circuit.until(() => terminator.length === data.length, 100), 'all data arrives');
  t.ok(terminator.received.equals(data));
});

t.test('a terminating end that never starts times out', async (t) => {
  const circuit = new Circuit(CALM, 1, { circuitStartTimeout: 5_000 });
  circuit.drop = (payload) => payload.has(PayloadFlag.CircuitStart);
  circuit.start();
  await circuit.clock.advance(4_000);
  t.notOk(circuit.ends.terminator.isClosed);
  await circuit.clock.advance(2_000);
  t.ok(circuit.ends.terminator.isClosed);
});

t.test('a client that disconnects with unread data leaves no end behind', async (t) => {
  for (const goodbye of ['rejectData', 'abort'] as const) {
    const circuit = new Circuit(CALM, 3, { circuitStartTimeout: 0 }).start();
    const { initiator, terminator } = circuit.clients;
    await circuit.until(() => circuit.ends.terminator.canWrite);
    initiator.accepts = false;
    circuit.feed('terminator', bytes(9_000_000, 3), 16_000);
    await circuit.until(() => initiator.length > 0);
    circuit.ends.initiator.end();
    await circuit.until(() => terminator.ended);
    circuit.ends.initiator[goodbye]();
    t.ok(await circuit.until(() => initiator.outcome !== '' && terminator.outcome !== '', 10), goodbye);
    t.equal(terminator.outcome, 'cut', 'the service learns that its data was rejected');
    t.equal(circuit.ticker.size, 0);
  }
});

t.test('a client that disconnects before the circuit starts leaves no end behind', async (t) => {
  const circuit = new Circuit(CALM, 1, { circuitStartTimeout: 0 });
  circuit.ends.terminator.start();
  circuit.ends.terminator.abort();
  t.equal(circuit.clients.terminator.outcome, 'cut');
  t.equal(circuit.ticker.size, 0);
});

t.test('a removed circuit is cut unless all data up to the end has arrived', async (t) => {
  for (const complete of [true, false]) {
    const circuit = new Circuit(CALM, 3, { circuitStartTimeout: 0 }).start();
    const { initiator } = circuit.clients;
    await circuit.until(() => circuit.ends.terminator.canWrite);
    initiator.accepts = false;
    const data = bytes(200_000, 3);
    circuit.feed('terminator', data, 10_000, () => complete && circuit.ends.terminator.end());
    await circuit.until(() => circuit.ends.terminator.unacknowledged.payloads === 0);
    circuit.ends.initiator.unrouted();
    t.equal(initiator.outcome, complete ? '' : 'cut', 'at once if data is missing');
    initiator.accepts = true;
    circuit.ends.initiator.resume();
    if (!complete) continue;
    t.equal(initiator.outcome, 'complete');
    t.ok(initiator.received.equals(data), 'the client received all data');
  }
});

t.test('a client that does not read the remaining data of a removed circuit times out', async (t) => {
  const circuit = new Circuit(CALM, 3, { circuitStartTimeout: 0, maxCloseWaitMs: 5_000 }).start();
  const { initiator } = circuit.clients;
  await circuit.until(() => circuit.ends.terminator.canWrite);
  initiator.accepts = false;
  circuit.feed('terminator', bytes(200_000, 3), 10_000, () => circuit.ends.terminator.end());
  await circuit.until(() => circuit.ends.terminator.unacknowledged.payloads === 0);
  circuit.ends.initiator.unrouted();
  for (let step = 0; step < 4; step++) {
    await circuit.clock.advance(4_000);
    t.equal(initiator.outcome, '', 'it reads from time to time');
    circuit.ends.initiator.resume();
  }
  await circuit.clock.advance(6_000);
  t.equal(initiator.outcome, 'cut');
});

t.test('a half close ends the data if the controller then removes the circuit', async (t) => {
  for (const paused of [true, false]) {
    const { initiator, client } = alone();
    const fin = new Map([[PayloadHeader.EdgeFlags, Buffer.from([1, 0, 0, 0])]]);
    client.accepts = !paused;
    initiator.acceptPayload(Payload.create('circuit', 0, PayloadFlag.Originator, Buffer.from('all')));
    initiator.acceptPayload(Payload.create('circuit', 1, PayloadFlag.Originator, Buffer.alloc(0), fin));
    initiator.unrouted();
    client.accepts = true;
    initiator.resume();
    t.equal(client.outcome, 'complete', paused ? 'the client read the rest later' : 'the client had read everything');
    t.equal(client.received.toString(), 'all');
  }
});

t.test('a slow client receives all data after the other side has ended', async (t) => {
  const circuit = new Circuit(CALM, 3, { circuitStartTimeout: 0, maxCloseWaitMs: 5_000 }).start();
  const { initiator, terminator } = circuit.clients;
  await circuit.until(() => circuit.ends.terminator.canWrite);
  initiator.accepts = false;
  const data = bytes(9_000_000, 3);
  circuit.feed('terminator', data, 60_000, () => circuit.ends.terminator.end());
  circuit.ends.initiator.end();
  for (let seconds = 0; seconds < 1_000 && initiator.outcome === ''; seconds++) {
    await circuit.clock.advance(500);
    circuit.ends.initiator.resume();
  }
  t.ok(initiator.received.equals(data));
  t.same([initiator.outcome, terminator.outcome], ['complete', 'complete']);
});

t.test('a client that disconnects on the end, before the circuit closes, leaves no end waiting', async (t) => {
  const { initiator, client, receive, acknowledge, circuit } = alone();
  circuit.drop = () => true;
  const capabilities = new Map([[PayloadHeader.Capabilities, Buffer.from([0, 0, 1, 0])]]);
  initiator.acceptPayload(Payload.create('circuit', 0, PayloadFlag.Originator, Buffer.alloc(0), capabilities));
  initiator.end({ fin: true });
  acknowledge([0, 1, 2]);
  initiator.rejectData();
  receive(1, Buffer.alloc(0), PayloadFlag.Eof);
  t.equal(client.outcome, '', 'the peer has not confirmed the rejection');
  receive(2, Buffer.alloc(0), PayloadFlag.CircuitEnd);
  t.equal(client.outcome, 'complete', 'and never will: it disconnected');
});

interface Ending {
  readonly name: string;
  /** Payloads of a terminator of another implementation, after its capabilities and its data. */
  readonly sends: readonly { flags?: number; headers?: ReadonlyMap<number, Buffer> }[];
  readonly capabilities?: boolean;
  readonly outcome: string;
  readonly ended: boolean;
}

t.test('ends of other implementations are complete or cut as intended', async (t) => {
  const fin = new Map([[PayloadHeader.EdgeFlags, Buffer.from([1, 0, 0, 0])]]);
  const { CircuitEnd, Eof, WriteFailed } = PayloadFlag;
  const endings: Ending[] = [
    {
      name: 'FIN, EOF, circuit end',
      sends: [{ headers: fin }, { flags: Eof }, { flags: CircuitEnd }],
      outcome: 'complete',
      ended: true,
    },
    { name: 'EOF of an SDK', sends: [{ flags: Eof }], outcome: '', ended: true },
    { name: 'an SDK closes', sends: [{ flags: WriteFailed }, { flags: Eof }], outcome: 'complete', ended: true },
    { name: 'an old peer closes', capabilities: false, sends: [{ flags: CircuitEnd }], outcome: '', ended: true },
    {
      name: 'FIN and end of an old peer',
      capabilities: false,
      sends: [{ headers: fin }, { flags: CircuitEnd }],
      outcome: '',
      ended: true,
    },
    { name: 'the client of a peer fails', sends: [{ flags: CircuitEnd }], outcome: 'cut', ended: false },
    { name: 'abort', sends: [{ flags: CircuitEnd | WriteFailed }], outcome: 'cut', ended: false },
  ];
  for (const { name, sends, capabilities = true, outcome, ended } of endings) {
    const circuit = new Circuit(CALM, 1, { circuitStartTimeout: 0 });
    const { initiator } = circuit.ends;
    const client = circuit.clients.initiator;
    initiator.start();
    let sequence = 0;
    const send = (flags: number, data = '', headers?: ReadonlyMap<number, Buffer>) =>
      initiator.acceptPayload(
        Payload.create('circuit', sequence++, flags | PayloadFlag.Originator, Buffer.from(data), headers),
      );
    if (capabilities) send(0, '', new Map([[PayloadHeader.Capabilities, Buffer.from([0, 0, 1, 0])]]));
    send(0, 'data');
    for (const { flags = 0, headers } of sends) send(flags, '', headers);
    await circuit.clock.advance(2_000);
    t.match(
      { outcome: client.outcome, ended: client.ended, text: client.received.toString() },
      { outcome, ended, text: 'data' },
      name,
    );
    initiator.abort();
  }
});

/** One end alone; the test acts as its peer. */
function alone(options: Partial<XgressOptions> = {}) {
  const circuit = new Circuit(CALM, 1, { circuitStartTimeout: 0, ...options });
  const { initiator } = circuit.ends;
  initiator.start();
  const data = Buffer.alloc(10_000, 'x');
  const receive = (sequence: number, bytes: Buffer = data, flags = 0) =>
    initiator.acceptPayload(Payload.create('circuit', sequence, flags | PayloadFlag.Originator, bytes));
  const acknowledge = (sequences: number[], size = 0, stamp = 0, flags: number = PayloadFlag.Originator) =>
    initiator.acceptAcknowledgement(Acknowledgement.create('circuit', flags, size, stamp, sequences));
  return { circuit, initiator, client: circuit.clients.initiator, receive, acknowledge };
}

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

function times(count: number, task: (index: number) => void): void {
  for (let index = 0; index < count; index++) task(index);
}

t.test(
  'a client that sees the end has received all data in every case, and no memory is held afterwards',
  async (t) => {
    const roles = ['initiator', 'terminator'] as const;
    for (let seed = 1; seed <= 150; seed++) {
      const random = seededRandom(seed);
      const pick = (count: number) => Math.floor(random.next() * count);
      const weather = { loss: pick(2) * 0.1, duplication: pick(2) * 0.1, delay: 1 + pick(80) };
      const circuit = new Circuit(weather, seed, {
        circuitStartTimeout: 0,
        rxBufferSize: 40_000,
        maxCloseWaitMs: 3_000,
      }).start();
      await circuit.clock.advance(1_000);
      const written = { initiator: 0, terminator: 0 };
      const ended = { initiator: false, terminator: false };
      const gone = { initiator: false, terminator: false };
      const has = (role: CircuitRole) => {
        const other = role === 'initiator' ? 'terminator' : 'initiator';
        return ended[other] && circuit.clients[role].length === written[other];
      };
      for (let step = 0; step < 40; step++) {
        const role = roles[pick(2)] as CircuitRole;
        const [end, client] = [circuit.ends[role], circuit.clients[role]];
        const what = pick(30);
        if (what < 14 && end.canWrite) {
          const data = Buffer.alloc(1 + pick(9_000), seed);
          written[role] += data.length;
          end.write(data);
        } else if (what < 20) client.accepts = !client.accepts;
        else if (what < 24) end.resume();
        else if (what === 25 && !end.isClosed && end.canWrite) {
          ended[role] = true;
          end.end({ fin: pick(2) === 0 });
        } else if (what === 26 && ended[role]) {
          gone[role] = true;
          end.rejectData();
        } else if (what === 27 && pick(4) === 0) end.unrouted();
        else if (what === 28 && pick(4) === 0) end.abort();
        else await circuit.clock.advance(pick(300));
      }
      for (const role of roles) {
        circuit.clients[role].accepts = true;
        circuit.ends[role].resume();
      }
      await circuit.clock.advance(60_000);
      for (const role of roles) {
        const { outcome, ended } = circuit.clients[role];
        if ((ended || outcome === 'complete') && !gone[role] && !has(role))
          t.fail(`seed ${seed}: ${role} took a part for the whole`);
        circuit.ends[role].abort();
        circuit.ends[role].resume();
      }
      if (circuit.budget.used !== 0 || circuit.ticker.size !== 0)
        t.fail(`seed ${seed}: ${circuit.budget.used} bytes are held`);
    }
    t.pass('150 circuits');
  },
);

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

interface Recorded {
  kx: Record<string, string>;
  secretstream: { key: string; headerHex: string; chunks: { plainHex: string; cipherHex: string; tag: number }[] };
}
const recorded = JSON.parse(readFileSync(new URL('../../test/vectors/wire.json', import.meta.url), 'utf8')) as Recorded;

t.test('payloads of all sizes keep their content while memory of acknowledged ones is reused', async (t) => {
  const circuit = new Circuit({ loss: 0.05, duplication: 0.1, delay: 30 }, 11, { circuitStartTimeout: 0 }).start();
  await circuit.until(() => circuit.ends.initiator.canWrite);
  const data = bytes(8_000_000, 11);
  circuit.feed('initiator', data, 65_536);
  const { terminator } = circuit.clients;
  t.ok(await circuit.until(() => terminator.length >= data.length));
  t.ok(terminator.received.equals(data));
  t.ok(circuit.counts.retransmitted > 0 && circuit.counts.duplicates > 0);
  t.equal(sharedBuffers.idleBytes > 0, true, 'blocks were returned to the pool');
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

t.test('keys are agreed on as recorded', async (t) => {
  const hex = (name: string) => Buffer.from(recorded.kx[name] ?? '', 'hex');
  const client = makeKeyPair(hex('clientSeed'));
  const server = makeKeyPair(hex('serverSeed'));
  t.equal(client.publicKey.toString('hex'), recorded.kx.clientPublic);
  t.equal(server.publicKey.toString('hex'), recorded.kx.serverPublic);
  const dialer = sessionKeys('dialer', client, server.publicKey);
  const host = sessionKeys('host', server, client.publicKey);
  t.same([dialer.rx.toString('hex'), dialer.tx.toString('hex')], [recorded.kx.clientRx, recorded.kx.clientTx]);
  t.same([host.rx.toString('hex'), host.tx.toString('hex')], [recorded.kx.serverRx, recorded.kx.serverTx]);
});

t.test('a recorded stream decrypts', async (t) => {
  const { key, headerHex, chunks } = recorded.secretstream;
  const stream = new EncryptedStream({ rx: Buffer.from(key, 'hex'), tx: Buffer.from(key, 'hex') });
  t.equal(stream.open(Buffer.from(headerHex, 'hex')), undefined, 'the header contains no data');
  for (const { plainHex, cipherHex } of chunks)
    t.equal(stream.open(Buffer.from(cipherHex, 'hex'))?.toString('hex'), plainHex);
});

t.test('modified or reordered messages are rejected', async (t) => {
  const [a, b] = [makeKeyPair(), makeKeyPair()];
  const dialer = new EncryptedStream(sessionKeys('dialer', a, b.publicKey));
  const fresh = () => {
    const host = new EncryptedStream(sessionKeys('host', b, a.publicKey));
    host.open(dialer.header);
    return host;
  };
  const one = dialer.seal(Buffer.from('one'));
  const two = dialer.seal(Buffer.from('two'));
  const host = fresh();
  t.equal(host.open(one)?.toString(), 'one');
  t.equal(host.open(two)?.toString(), 'two');
  const changed = Buffer.from(one);
  changed.writeUInt8(changed.readUInt8(3) ^ 1, 3);
  for (const bad of [changed, two, one.subarray(0, 10), Buffer.alloc(0)])
    t.throws(() => fresh().open(bad), EncryptionError);
  t.throws(
    () => new EncryptedStream(sessionKeys('host', b, a.publicKey)).open(one),
    EncryptionError,
    'without its header',
  );
  t.throws(() => sessionKeys('dialer', a, Buffer.alloc(31)), EncryptionError, 'a key of another length');
  t.throws(() => sessionKeys('dialer', a, Buffer.alloc(32)), EncryptionError, 'an all-zero key');
});
