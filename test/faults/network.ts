// Two routers on one virtual clock, with two faulty links between them and a controller that moves circuits off lost
// links. The rooms are the agent's own: forwarder, circuit ends, faults, removal. Only sockets and dialing are missing.

import { fromBinary } from '@bufbuild/protobuf';
import { silentLog } from '#lib/log/log.ts';
import { BufferPool } from '#lib/queue/buffer-pool.ts';
import { type Random, seededRandom } from '#lib/random.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import { Frame } from '#wire/frame.ts';
import { FaultSchema, FaultSubject } from '#wire/gen/control_pb.js';
import { ControlType } from '#wire/gen/numbers.ts';
import type { Message } from '#wire/message.ts';
import { Acknowledgement, Payload } from '#wire/xgress-frames.ts';
import { defaultXgressOptions } from '../../agent/config/xgress-defaults.ts';
import { type Destination, PayloadOrigin } from '../../agent/forwarder/destination.ts';
import { Faulter } from '../../agent/forwarder/faulter.ts';
import { Forwarder } from '../../agent/forwarder/forwarder.ts';
import { IdleScanner } from '../../agent/forwarder/idle-scanner.ts';
import { Unrouter } from '../../agent/forwarder/unrouter.ts';
import { MetricsRegistry } from '../../agent/metrics/registry.ts';
import { CircuitEnds } from '../../agent/xgress/circuit-ends.ts';
import type { Xgress } from '../../agent/xgress/xgress.ts';
import type { CircuitOutcome, XgressClient } from '../../agent/xgress/xgress-client.ts';

/** Fractions of frames, and the longest delay in milliseconds. */
export interface Weather {
  loss: number;
  duplication: number;
  delay: number;
}

export const CALM: Weather = { loss: 0, duplication: 0, delay: 3 };
const FAULT_INTERVAL = 1_000;
const CLOSE_CHECK = 1_000;
/** Longest delay of messages to or from the controller, in milliseconds. */
const CONTROL_DELAY = 40;
/** Circuits that were idle for this long are confirmed with the controller. */
const IDLE = { interval: 30_000, timeout: 30_000 };
const LINKS = 2;

export type Side = 'initiator' | 'terminator';

/** An application at one end: it writes as fast as permitted, and records the received data. */
export class Client implements XgressClient {
  /** Data to send, and the number of blocks that the circuit has accepted. */
  readonly sent: Buffer[] = [];
  accepted = 0;
  readonly received: Buffer[] = [];
  isReading = true;
  wantsEnd = false;
  hasEnded = false;
  receivedEnd = false;
  outcome: CircuitOutcome | undefined;
  /** Until the circuit signals that it accepts data. */
  #isBlocked = true;
  xgress: Xgress | undefined;

  /** After the circuit has closed, the connection is closed too: a write fails, and its data counts as not sent. */
  send(data: Buffer): void {
    if (!this.wantsEnd && this.outcome === undefined) this.sent.push(data);
    this.#pump();
  }

  endSending(): void {
    this.wantsEnd = true;
    this.#pump();
  }

  setReading(isReading: boolean): void {
    this.isReading = isReading;
    if (isReading) this.xgress?.resume();
  }

  /** The application disconnects. */
  abort(): void {
    this.xgress?.abort();
  }

  deliver(data: Buffer): boolean {
    this.received.push(Buffer.from(data));
    return this.isReading;
  }

  end(): void {
    this.receivedEnd = true;
  }

  closed(outcome: CircuitOutcome): void {
    this.outcome = outcome;
  }

  writable(): void {
    this.#isBlocked = false;
    this.#pump();
  }

  #pump(): void {
    while (!this.#isBlocked && this.xgress && !this.xgress.isClosed && this.accepted < this.sent.length)
      this.#isBlocked = !this.xgress.write(this.sent[this.accepted++] as Buffer);
    if (!this.wantsEnd || this.hasEnded || this.accepted < this.sent.length || this.#isBlocked) return;
    this.hasEnded = true;
    this.xgress?.end();
  }
}

interface Router {
  readonly name: string;
  readonly forwarder: Forwarder;
  readonly ends: CircuitEnds;
  readonly unrouter: Unrouter;
  /** Deliveries while it is suspended, as for a stopped process. */
  stopped: (() => void)[] | undefined;
  close(): void;
}

export interface Circuit {
  readonly id: string;
  readonly clients: Readonly<Record<Side, Client>>;
  /** The controller has removed it. */
  isRemoved: boolean;
}

/** The wall clock jumps, as if an operator set it; the monotonic clock does not. */
class JumpingClock extends VirtualClock {
  #offset = 0;

  jump(milliseconds: number): void {
    this.#offset += milliseconds;
  }

  override now(): number {
    return super.now() + this.#offset;
  }
}

export class FaultyNetwork {
  readonly clock = new JumpingClock();
  readonly circuits: Circuit[] = [];
  weather: Weather = CALM;
  readonly #random: Random;
  readonly #routers: readonly [Router, Router];
  readonly #isUp: boolean[] = Array.from({ length: LINKS }, () => true);

  constructor(seed: number) {
    this.#random = seededRandom(seed);
    this.#routers = [this.#router('a'), this.#router('b')];
    for (let link = 0; link < LINKS; link++) this.#register(link);
  }

  /** Opens a circuit from a to b, over the first link that is up. */
  open(): Circuit {
    const id = `circuit-${this.circuits.length}`;
    const circuit: Circuit = { id, clients: { initiator: new Client(), terminator: new Client() }, isRemoved: false };
    this.circuits.push(circuit);
    this.#route(circuit, this.#bestLink());
    const [a, b] = this.#routers;
    const open = (router: Router, role: Side) => {
      const init = { circuitId: id, address: `${id}-${role}`, role, options: OPTIONS, hopType: 'test' };
      circuit.clients[role].xgress = router.ends.open(init, circuit.clients[role], 'c');
    };
    open(b, 'terminator');
    open(a, 'initiator');
    circuit.clients.terminator.xgress?.start();
    circuit.clients.initiator.xgress?.start();
    return circuit;
  }

  isUp(link: number): boolean {
    return this.#isUp[link] === true;
  }

  /**
   * Drops all frames in flight. The controller learns of the loss and moves circuits to the other link, or removes
   * them.
   */
  cutLink(link: number): void {
    if (!this.isUp(link)) return;
    this.#isUp[link] = false;
    for (const router of this.#routers) {
      const address = linkAddress(link);
      const known = router.forwarder.destination(address);
      if (known) router.forwarder.unregisterLink(known);
    }
    this.#toController(() => {
      for (const circuit of this.circuits) this.#move(circuit);
    });
  }

  restoreLink(link: number): void {
    if (this.isUp(link)) return;
    this.#isUp[link] = true;
    this.#register(link);
  }

  /** Suspends a router: arriving messages are not handled until `resume`. */
  stop(index: 0 | 1): void {
    this.#routers[index].stopped ??= [];
  }

  resume(index: 0 | 1): void {
    const waiting = this.#routers[index].stopped ?? [];
    this.#routers[index].stopped = undefined;
    for (const task of waiting) task();
  }

  /** State that remains in the routers. */
  remains(): Record<string, number> {
    const sum = (count: (router: Router) => number) =>
      this.#routers.reduce((total, router) => total + count(router), 0);
    return {
      ends: sum(({ ends }) => ends.count),
      circuits: sum(({ forwarder }) => forwarder.circuits.size),
      bufferedBytes: sum(({ ends }) => ends.bufferedBytes),
    };
  }

  close(): void {
    for (const router of this.#routers) router.close();
  }

  #router(name: string): Router {
    const { clock } = this;
    const log = silentLog;
    const controller = {
      id: 'c',
      send: (message: Message) => this.#toController(() => this.#onMessage(router, message)),
    };
    const controllers = { all: [controller], byId: () => controller };
    const forwarder = new Forwarder({ clock, log, routerId: name });
    const metrics = new MetricsRegistry(clock, () => this.#random.next());
    const faulter = new Faulter({ clock, log, controllers, faults: { mark: () => undefined } }, FAULT_INTERVAL);
    const scanner = new IdleScanner({ clock, log, forwarder, controllers }, IDLE);
    const unrouter = new Unrouter({ clock, log, forwarder }, CLOSE_CHECK);
    forwarder.onLinkLost((linkId) => scanner.onLinkLost(linkId));
    const onUnroutable = (id: string) => faulter.report(id, 'c');
    const ends = new CircuitEnds({ buffers: new BufferPool(), clock, log, forwarder, metrics, faulter, onUnroutable });
    const close = () => {
      faulter.close();
      scanner.close();
      unrouter.close();
    };
    const router: Router = { name, forwarder, ends, unrouter, stopped: undefined, close };
    return router;
  }

  #register(link: number): void {
    const [a, b] = this.#routers;
    a.forwarder.registerLink(this.#halfOf(link, b));
    b.forwarder.registerLink(this.#halfOf(link, a));
  }

  /** The sending side of a link to `other`. */
  #halfOf(link: number, other: Router): Destination {
    const address = linkAddress(link);
    const { forwarder } = other;
    return {
      address,
      acceptPayload: (payload) => {
        const bytes = Buffer.from(payload.bytes);
        this.#carry(link, other, () => {
          forwarder.forwardPayload(address, Payload.fromFrame(new Frame(Buffer.from(bytes))), PayloadOrigin.Forwarded);
        });
        return true;
      },
      acceptAcknowledgement: (acknowledgement) => {
        const bytes = Buffer.from(acknowledgement.bytes);
        this.#carry(link, other, () => {
          forwarder.forwardAcknowledgement(address, Acknowledgement.fromFrame(new Frame(Buffer.from(bytes))));
        });
        return true;
      },
      acceptControl: (frame) => {
        const bytes = Buffer.from(frame.bytes);
        this.#carry(link, other, () => void forwarder.forwardControl(address, new Frame(Buffer.from(bytes))));
        return true;
      },
      onceWritable: (_circuitId, task) => void this.clock.after('link writable', 1, task),
    };
  }

  /** Loses, duplicates and delays frames of a link, which also reorders them. */
  #carry(link: number, to: Router, deliver: () => void): void {
    const { loss, duplication, delay } = this.weather;
    const copies = this.#random.next() < duplication ? 2 : 1;
    for (let copy = 0; copy < copies; copy++) {
      if (this.#random.next() < loss) continue;
      this.clock.after('on a link', 1 + this.#random.next() * delay, () => {
        if (this.isUp(link)) this.#run(to, deliver);
      });
    }
  }

  #run(router: Router, task: () => void): void {
    if (router.stopped) router.stopped.push(task);
    else task();
  }

  #toController(task: () => void): void {
    this.clock.after('control', 1 + this.#random.next() * CONTROL_DELAY, task);
  }

  /** The controller's handler for messages of a router. */
  #onMessage(from: Router, { contentType, body }: Message): void {
    if (contentType === ControlType.CircuitConfirmation) {
      this.#confirm(from);
      return;
    }
    const { subject, id } = fromBinary(FaultSchema, body);
    const isForwarding = subject === FaultSubject.FORWARD_FAULT || subject === FaultSubject.UNKNOWN_OWNER_FORWARD_FAULT;
    for (const each of id.split(' ')) {
      const circuit = this.circuits.find((known) => known.id === each);
      if (!circuit || circuit.isRemoved) this.#unroute(from, each);
      else if (isForwarding) this.#move(circuit);
      else this.#remove(circuit, subject === FaultSubject.INGRESS_FAULT || subject === FaultSubject.EGRESS_FAULT);
    }
  }

  /** Removes circuits that a router asks about and that the controller no longer knows. */
  #confirm(router: Router): void {
    for (const { id, isRemoved } of this.circuits) if (isRemoved) this.#unroute(router, id);
  }

  #move(circuit: Circuit): void {
    if (circuit.isRemoved) return;
    const link = this.#bestLink();
    if (link === undefined) this.#remove(circuit, false);
    else this.#toController(() => !circuit.isRemoved && this.isUp(link) && this.#route(circuit, link));
  }

  #remove(circuit: Circuit, byEnd: boolean): void {
    if (circuit.isRemoved) return;
    circuit.isRemoved = true;
    for (const router of this.#routers)
      this.#toController(() => (byEnd ? this.#unrouteLater(router, circuit.id) : this.#unroute(router, circuit.id)));
  }

  #unroute(router: Router, id: string): void {
    this.#run(router, () => router.unrouter.unroute(id, true));
  }

  #unrouteLater(router: Router, id: string): void {
    this.#run(router, () => router.unrouter.unroute(id, false));
  }

  #bestLink(): number | undefined {
    const link = this.#isUp.indexOf(true);
    return link < 0 ? undefined : link;
  }

  /** A router without the circuit's end rejects the route, and the controller removes the circuit. */
  #route(circuit: Circuit, link: number | undefined): void {
    const { id } = circuit;
    for (const [index, router] of this.#routers.entries()) {
      const end = `${id}-${SIDES[index]}`;
      if (link === undefined) {
        router.forwarder.circuits.open(id, 'c', {});
        continue;
      }
      this.#run(router, () => {
        if (circuit.clients.initiator.xgress && !router.forwarder.destination(end)) {
          this.#remove(circuit, false);
          return;
        }
        const { forwards } = router.forwarder.circuits.open(id, 'c', {});
        forwards.set(end, linkAddress(link)).set(linkAddress(link), end);
      });
    }
  }
}

const SIDES: readonly Side[] = ['initiator', 'terminator'];
const OPTIONS = { ...defaultXgressOptions(), circuitStartTimeout: 60_000 };

function linkAddress(link: number): string {
  return `link-${link}`;
}
