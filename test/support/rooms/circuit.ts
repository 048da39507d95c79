// Two ends of a circuit on a virtual clock, over a network that loses, duplicates, delays and reorders as the test
// wants; or one end alone, with the test as its peer.

import { BufferBudget } from '#lib/queue/buffer-budget.ts';
import { BufferPool } from '#lib/queue/buffer-pool.ts';
import type { EndBudget } from '#lib/queue/holder-budgets.ts';
import { type Random, seededRandom } from '#lib/random.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import type { Frame } from '#wire/frame.ts';
import { PayloadFlag } from '#wire/gen/numbers.ts';
import { Acknowledgement, Payload } from '#wire/xgress-frames.ts';
import { defaultXgressOptions } from '../../../agent/config/xgress-defaults.ts';
import type { ForwardOutcome } from '../../../agent/forwarder/destination.ts';
import type { XgressOptions } from '../../../agent/xgress/options.ts';
import { XgressTicker } from '../../../agent/xgress/ticker.ts';
import { Xgress } from '../../../agent/xgress/xgress.ts';
import type { CircuitOutcome, XgressClient } from '../../../agent/xgress/xgress-client.ts';
import type { CircuitRole, XgressMetrics } from '../../../agent/xgress/xgress-metrics.ts';

export interface Weather {
  /** Ratios of payloads and acknowledgements. */
  loss: number;
  duplication: number;
  /** Milliseconds, maximum. */
  delay: number;
}

export const CALM: Weather = { loss: 0, duplication: 0, delay: 2 };

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

export class Circuit {
  readonly clock = new VirtualClock();
  readonly buffers = new BufferPool();
  readonly ticker = new XgressTicker(this.clock);
  readonly budget: EndBudget;
  readonly counts = { retransmitted: 0, duplicates: 0, payloads: 0, dropped: 0, acks: 0, failedAcks: 0 };
  readonly clients = { initiator: new TestClient(), terminator: new TestClient() };
  readonly ends: Record<CircuitRole, Xgress>;
  /** Called for each payload; returns true to drop it. */
  drop: (payload: Payload) => boolean = () => false;
  /** Called for each frame; returns true to lose it. */
  loses: (kind: 'payload' | 'acknowledgement' | 'control') => boolean = () => false;
  /** The forwarder does not know where acknowledgements go. */
  isUnroutable = false;
  readonly #random: Random;
  readonly #weather: Weather;

  constructor(
    weather: Weather,
    seed = 1,
    options: Partial<XgressOptions> = {},
    budget: EndBudget = new BufferBudget(),
  ) {
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
      forwardPayload: (_source: string, payload: Payload): ForwardOutcome => {
        this.counts.payloads++;
        const copy = payload.copy(this.buffers);
        return this.drop(copy) || this.loses('payload') ? 'sent' : send(() => void other().acceptPayload(copy));
      },
      forwardAcknowledgement: (_source: string, ack: Acknowledgement): ForwardOutcome => {
        if (this.isUnroutable) return 'unroutable';
        return this.loses('acknowledgement') ? 'sent' : send(() => void other().acceptAcknowledgement(ack));
      },
      forwardControl: (_source: string, frame: Frame): ForwardOutcome =>
        this.loses('control') ? 'sent' : send(() => void other().acceptControl(frame)),
      nextHop: () => undefined,
      settled: () => undefined,
    };
    const components = {
      clock: this.clock,
      buffers: this.buffers,
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
      acknowledgementSent: () => void count.acks++,
      acknowledgementFailed: () => void count.failedAcks++,
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

export function bytes(length: number, seed: number): Buffer {
  const block = seededRandom(seed).bytes(10_007);
  return Buffer.alloc(length, block);
}

/** One end alone; the test acts as its peer. */
export function alone(options: Partial<XgressOptions> = {}, budget?: EndBudget) {
  const circuit = new Circuit(CALM, 1, { circuitStartTimeout: 0, ...options }, budget);
  const { initiator } = circuit.ends;
  initiator.start();
  const data = Buffer.alloc(10_000, 'x');
  const receive = (sequence: number, bytes: Buffer = data, flags = 0) =>
    initiator.acceptPayload(Payload.create('circuit', sequence, flags | PayloadFlag.Originator, bytes));
  const acknowledge = (sequences: number[], size = 0, stamp = 0, flags: number = PayloadFlag.Originator) =>
    initiator.acceptAcknowledgement(Acknowledgement.create('circuit', flags, size, stamp, sequences));
  return { circuit, initiator, client: circuit.clients.initiator, receive, acknowledge };
}
