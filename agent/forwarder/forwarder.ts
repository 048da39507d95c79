// Forwards circuit traffic from its source to its destination. The hot path: no promises, no copies, no protobuf.
//
//   link or xgress ─► circuit id ─► circuit table ─► source address ─► destination address ─► destination table ─► send
//
// Traffic without a route returns `unroutable`; the caller decides whether that is a fault (reference fact: link,
// section 3).

import { Listeners } from '#lib/listeners.ts';
import type { Log } from '#lib/log/log.ts';
import type { Subscription } from '#lib/subscription.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { Frame } from '#wire/frame.ts';
import { type Acknowledgement, circuitIdOf, MAX_CIRCUIT_ID, type Payload } from '#wire/xgress-frames.ts';
import { type Circuit, CircuitTable, circuitOwner } from './circuit-table.ts';
import { type CircuitEnd, type Destination, type ForwardOutcome, PayloadOrigin } from './destination.ts';
import { traceRouteAnswer, traceRouteStep } from './trace-route.ts';

export interface ForwarderComponents {
  clock: Clock;
  log: Log;
  /** Id of this router, sent in trace route answers. */
  routerId: string;
  /** Counts payloads that arrive from a source which their circuit does not use. */
  foreign?: { mark(count?: number): void };
  /** The same for acknowledgements. */
  foreignAcks?: { mark(count?: number): void };
}

/**
 * Bytes of a control frame. Hops add headers to it, and a peer closes a link that carries a frame with more than 64 KiB
 * of them.
 */
const MAX_CONTROL_BYTES = 16 * 1024;

export class Forwarder {
  readonly circuits: CircuitTable;
  readonly #lostLinks: Listeners<string>;
  readonly #settledEnds: Listeners<string>;
  readonly #removedCircuits: Listeners<Circuit>;
  readonly #components: ForwarderComponents;
  readonly #destinations = new Map<string, Destination>();
  readonly #ends = new Map<string, Set<CircuitEnd>>();

  constructor(components: ForwarderComponents) {
    this.#components = components;
    this.circuits = new CircuitTable(components.clock);
    const { log } = components;
    this.#lostLinks = new Listeners('lost links', log);
    this.#settledEnds = new Listeners('settled ends', log);
    this.#removedCircuits = new Listeners('removed circuits', log);
  }

  /** Calls `listener` with the id of each link that was lost and has no replacement. */
  onLinkLost(listener: (linkId: string) => void): Subscription {
    return this.#lostLinks.add(listener);
  }

  /** Calls `listener` with the circuit id of each end whose `isSettled` became true. */
  onSettled(listener: (circuitId: string) => void): Subscription {
    return this.#settledEnds.add(listener);
  }

  /** Calls `listener` with each circuit that is being removed: the last chance to read its state. */
  onCircuitRemoved(listener: (circuit: Circuit) => void): Subscription {
    return this.#removedCircuits.add(listener);
  }

  /** An end reports that its `isSettled` became true. */
  settled(circuitId: string): void {
    this.#settledEnds.call(circuitId);
  }

  get destinationCount(): number {
    return this.#destinations.size;
  }

  /** Returns the link or circuit end with this address. */
  destination(address: string): Destination | undefined {
    return this.#destinations.get(address);
  }

  /** Addresses of all destinations, for diagnostics. */
  addresses(): string[] {
    return [...this.#destinations.keys()];
  }

  registerLink(link: Destination): void {
    this.#destinations.set(link.address, link);
  }

  /** Removes the entry only if it still belongs to this link: a redialed link has the same id. */
  unregisterLink(link: Destination): void {
    if (this.#destinations.get(link.address) !== link) return;
    this.#destinations.delete(link.address);
    this.#lostLinks.call(link.address);
  }

  /** Call this before the end starts, so that early frames are not lost. */
  registerEnd(end: CircuitEnd): void {
    this.#destinations.set(end.address, end);
    const ends = this.#ends.get(end.circuitId) ?? new Set();
    ends.add(end);
    this.#ends.set(end.circuitId, ends);
  }

  unregisterEnd(end: CircuitEnd): void {
    if (this.#destinations.get(end.address) === end) this.#destinations.delete(end.address);
    const ends = this.#ends.get(end.circuitId);
    ends?.delete(end);
    if (ends?.size === 0) this.#ends.delete(end.circuitId);
  }

  /** Returns the ends of a circuit on this router: none, one or both. */
  endsOf(circuitId: string): CircuitEnd[] {
    return [...(this.#ends.get(circuitId) ?? [])];
  }

  forwardPayload(source: string, payload: Payload, origin: PayloadOrigin): ForwardOutcome {
    const circuit = this.circuits.get(payload.circuitId);
    const destination = circuit && this.#next(circuit, source);
    if (!destination) return this.#unroutable(circuit, source, this.#components.foreign);
    if (origin !== PayloadOrigin.Retransmission) circuit.lastActivity = this.#components.clock.monotonic();
    const { dataLength } = payload;
    if (origin === PayloadOrigin.Forwarded) circuit.fabric.rx += dataLength;
    if (!destination.acceptPayload(payload, origin)) return 'full';
    if (destination.isLink) circuit.fabric.tx += dataLength;
    return 'sent';
  }

  forwardAcknowledgement(source: string, acknowledgement: Acknowledgement): ForwardOutcome {
    const circuit = this.circuits.get(acknowledgement.circuitId);
    const destination = circuit && this.#next(circuit, source);
    if (!destination) return this.#unroutable(circuit, source, this.#components.foreignAcks);
    circuit.lastActivity = this.#components.clock.monotonic();
    return destination.acceptAcknowledgement(acknowledgement) ? 'sent' : 'full';
  }

  /** Forwards control frames. A trace route request whose hops are used up is answered here. */
  forwardControl(source: string, frame: Frame): ForwardOutcome {
    if (frame.bytes.length > MAX_CONTROL_BYTES) return 'unroutable';
    const circuitId = circuitIdOf(frame) ?? frame.body.toString('utf8', 1, 1 + MAX_CIRCUIT_ID);
    const circuit = this.circuits.get(circuitId);
    const step = traceRouteStep(frame);
    if (step.used) return this.#answerTrace(source, frame, circuit, 'forwarder');
    const destination = circuit && this.#next(circuit, source);
    if (!destination) {
      if (step.isRequest)
        this.#answerTrace(source, frame, circuit, 'forwarder', `no route for circuit ${circuitId} from ${source}`);
      return 'unroutable';
    }
    circuit.lastActivity = this.#components.clock.monotonic();
    return destination.acceptControl(step.frame) ? 'sent' : 'full';
  }

  /** Returns the next hop of a circuit from `source`, for callers that wait until it is writable. */
  nextHop(circuitId: string, source: string): Destination | undefined {
    const circuit = this.circuits.get(circuitId);
    return circuit && this.#next(circuit, source);
  }

  /** Returns who owns a circuit, for its turns at the destination `next`; an empty name if there is no such circuit. */
  ownerOf(circuitId: string, next: string): string {
    const circuit = this.circuits.get(circuitId);
    if (!circuit) return '';
    return circuitOwner(circuit.tags, () => {
      for (const [source, destination] of circuit.forwards)
        if (destination === next && this.#destinations.get(source)?.isLink) return source;
      return undefined;
    });
  }

  /** Removes a circuit and notifies its ends. Returns false if it was unknown. */
  remove(circuitId: string): boolean {
    const circuit = this.circuits.get(circuitId);
    if (circuit) this.#removedCircuits.call(circuit);
    const known = this.circuits.delete(circuitId);
    for (const end of this.endsOf(circuitId)) {
      this.unregisterEnd(end);
      end.unrouted();
    }
    return known;
  }

  /** A peer that names other routers' circuits must not make their controller reroute or end them: no fault. */
  #unroutable(
    circuit: Circuit | undefined,
    source: string,
    foreign: ForwarderComponents['foreign'],
  ): 'foreign' | 'unroutable' {
    if (!circuit || circuit.forwards.has(source)) return 'unroutable';
    foreign?.mark();
    return 'foreign';
  }

  #next(circuit: Circuit, source: string): Destination | undefined {
    const address = circuit.forwards.get(source);
    return address === undefined ? undefined : this.#destinations.get(address);
  }

  #answerTrace(
    source: string,
    frame: Frame,
    circuit: Circuit | undefined,
    hopType: string,
    error?: string,
  ): ForwardOutcome {
    const answer = traceRouteAnswer(frame, {
      hopType,
      hopId: this.#components.routerId,
      now: this.#components.clock.now(),
      error,
    });
    // The source is itself a destination, so the answer goes back to it.
    const back = circuit ? this.#destinations.get(source) : undefined;
    return back?.acceptControl(answer) ? 'sent' : 'unroutable';
  }
}
