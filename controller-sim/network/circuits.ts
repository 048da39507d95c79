// Circuits: choice of terminator and path, routes to every router of the path, and the end (reference fact: control
// channel, section 4.4). circuit-states.ts has the states, circuit-moves.ts moves circuits to other paths.
//
//   request ─► terminator, path ─► Route to all ─► all RouteResults ─► circuit
//                     ▲────────────── a failure: next attempt ──┘

import { describeError } from '#lib/errors.ts';
import type { IdSource } from '#lib/ids.ts';
import type { Log } from '#lib/log/log.ts';
import type { Random } from '#lib/random.ts';
import type { Clock } from '#lib/time/clock.ts';
import { EdgeErrorCode, PeerDataKey, RetryHint, RouteErrorCode, RouterCapability } from '#wire/gen/numbers.ts';
import type { PeerData } from '#wire/peer-data.ts';
import type { Service } from '../state/kinds/service.ts';
import type { Terminator } from '../state/kinds/terminator.ts';
import type { State } from '../state/state.ts';
import type { Circuit } from './circuit.ts';
import { CircuitError, failureOf, RouteFailed } from './circuit-failure.ts';
import { CircuitMoves } from './circuit-moves.ts';
import { advance, isEnded } from './circuit-states.ts';
import type { ConnectedRouter } from './connected-router.ts';
import type { Links } from './links.ts';
import type { NetworkEvents, ServiceEventType } from './network-events.ts';
import type { Path } from './paths.ts';
import { peerDataOf } from './route-message.ts';
import { RouteSender } from './route-sender.ts';
import type { Candidate } from './strategies.ts';
import { TerminatorChoice } from './terminator-choice.ts';
import type { TerminatorCosts } from './terminator-costs.ts';

export interface CircuitRequest {
  readonly service: Service;
  /** The dialing identity. */
  readonly clientId: string;
  readonly ingressRouter: string;
  readonly instanceId: string;
  readonly peerData: PeerData;
  /** Requested by the caller, or empty. */
  readonly circuitId: string;
}

export interface NewCircuit {
  readonly circuit: Circuit;
  readonly peerData: PeerData;
}

export interface CircuitsComponents {
  state: State;
  clock: Clock;
  ids: IdSource;
  random: Random;
  log: Log;
  links: Links;
  events: NetworkEvents;
  routers: ReadonlyMap<string, ConnectedRouter>;
  costs: TerminatorCosts;
}

const ATTEMPTS = 2;
const EMPTY_PATH: Path = { routers: [], links: [], cost: 0 };
/** The controller keeps these: the client does not need the terminator's addresses. */
const NOT_FOR_THE_CLIENT: ReadonlySet<number> = new Set([
  PeerDataKey.TerminatorLocalAddress,
  PeerDataKey.TerminatorRemoteAddress,
]);

export class Circuits {
  readonly #components: CircuitsComponents;
  readonly moves: CircuitMoves;
  readonly #circuits = new Map<string, Circuit>();
  readonly #choice: TerminatorChoice;
  readonly #sender: RouteSender;

  constructor(components: CircuitsComponents) {
    this.#components = components;
    const choice = new TerminatorChoice(components);
    const sender = new RouteSender(components.routers);
    this.moves = new CircuitMoves({ ...components, choice, sender, circuits: this });
    this.#choice = choice;
    this.#sender = sender;
  }

  get size(): number {
    return this.#circuits.size;
  }

  get(id: string): Circuit | undefined {
    return this.#circuits.get(id);
  }

  /**
   * Whether a router that still has a circuit should remove it: the circuit ended, or left the router when it moved.
   */
  isStray(id: string, routerId: string): boolean {
    const circuit = this.#circuits.get(id);
    return !circuit || (circuit.state === 'up' && !circuit.path.routers.includes(routerId));
  }

  /** The cheapest path of a new circuit between two connected routers; undefined without one. */
  path(from: string, to: string): Path | undefined {
    return this.#choice.path(from, to);
  }

  values(): Circuit[] {
    return [...this.#circuits.values()];
  }

  /** Cancels all moves of circuits. */
  close(): void {
    this.moves.close();
  }

  /** Creates a circuit. Rejects with CircuitError. */
  async create(request: CircuitRequest): Promise<NewCircuit> {
    const { ids } = this.#components;
    if (request.service.encryptionRequired && !request.peerData.has(PeerDataKey.PublicKey)) {
      throw new CircuitError(
        EdgeErrorCode.EncryptionDataMissing,
        'encryption required on service, initiator did not send public header',
        { hint: RetryHint.StartOver },
      );
    }
    const id = request.circuitId || ids.long();
    let failure: unknown;
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      if (this.#circuits.has(id)) throw new CircuitError(EdgeErrorCode.Internal, `circuit ${id} already exists`);
      const { terminator, path } = this.#choose(request, id);
      const circuit = this.#draft(request, id, terminator, path);
      this.#circuits.set(id, circuit);
      try {
        const answered = await this.#route(circuit, terminator, request.peerData, attempt);
        return this.#complete(circuit, terminator, answered, request);
      } catch (error) {
        if (error instanceof CircuitError) throw error;
        this.#forget(circuit);
        await this.#onFailed(circuit, terminator, error);
        failure = error;
      }
    }
    throw new CircuitError(
      EdgeErrorCode.Internal,
      `exceeded maximum [${ATTEMPTS}] retries creating circuit [c/${id}]: ${describeError(failure)}`,
      { circuitId: id, cause: failure },
    );
  }

  /** Removes a circuit whose end is gone or which is no longer needed. */
  remove(id: string, options: { now: boolean }): void {
    const circuit = this.#circuits.get(id);
    if (!circuit) return;
    this.#forget(circuit);
    if (circuit.addsCost) this.#components.costs.circuitRemoved(circuit.terminatorId);
    this.#components.events.emit({ kind: 'circuit', type: 'deleted', circuit });
    for (const routerId of circuit.path.routers) this.unroute(routerId, id, options.now);
  }

  /** Removes a circuit from one router. Returns false if the router does not get the message. */
  unroute(routerId: string, circuitId: string, now: boolean): boolean {
    return this.#sender.unroute(routerId, circuitId, now);
  }

  #forget(circuit: Circuit): void {
    if (isEnded(circuit)) return;
    advance(circuit, 'end');
    this.#circuits.delete(circuit.id);
  }

  /** An end failed or the circuit was removed before all routers had answered. */
  #removedMeanwhile(circuit: Circuit): CircuitError {
    for (const router of circuit.path.routers) this.unroute(router, circuit.id, true);
    return new CircuitError(EdgeErrorCode.Internal, `circuit ${circuit.id} was removed during its creation`, {
      circuitId: circuit.id,
    });
  }

  #choose(request: CircuitRequest, id: string): Candidate {
    try {
      return this.#choice.choose(request, id);
    } catch (error) {
      if (error instanceof CircuitError && error.failure !== undefined) {
        const circuit = this.#draft(request, id, undefined, EMPTY_PATH);
        this.#components.events.emit({ kind: 'circuit', type: 'failed', circuit, cause: error.failure });
      }
      this.#countDial('service.dial.error_other', { serviceId: request.service.id, terminatorId: '' });
      throw error;
    }
  }

  /** reference fact: failures without a terminator are counted for the service only. */
  #countDial(type: ServiceEventType, { serviceId, terminatorId }: Pick<Circuit, 'serviceId' | 'terminatorId'>): void {
    const isOther = type === 'service.dial.error_other';
    this.#components.events.emit({ kind: 'service', type, serviceId, terminatorId: isOther ? '' : terminatorId });
  }

  #draft(request: CircuitRequest, id: string, terminator: Terminator | undefined, path: Path): Circuit {
    const { ids, clock } = this.#components;
    const hostId = terminator && { hostId: terminator.hostId };
    const tags = { serviceId: request.service.id, clientId: request.clientId, ...hostId };
    return {
      id,
      serviceId: request.service.id,
      clientId: request.clientId,
      terminatorId: terminator?.id ?? '',
      ingress: ids.long(),
      egress: ids.long(),
      tags,
      createdAt: clock.now(),
      state: 'routing',
      path,
      addsCost: false,
    };
  }

  /** Rejects with CircuitError if the circuit is removed meanwhile, whatever its routers answer. */
  async #route(circuit: Circuit, terminator: Terminator, peerData: PeerData, attempt: number): Promise<PeerData> {
    const egress = { terminator, peerData };
    const ingress = this.#components.routers.get(circuit.path.routers[0] ?? '');
    const withheld = ingress?.channel.withheld;
    const sent = circuit.path.routers.map((_id, position) =>
      this.#sender.route(circuit, position, { attempt, egress }),
    );
    // The answer to the request follows the route over the same connection: this router need not confirm it first,
    // which saves a round trip.
    const isInOrder =
      sent.length > 1 &&
      ingress?.capabilities.has(RouterCapability.RoutesInOrder) &&
      ingress.channel.withheld === withheld;
    let isAnswered = false;
    let early: unknown;
    if (isInOrder)
      sent[0]?.catch((error: unknown) => {
        if (isAnswered) this.#onIngressFailed(circuit, error);
        else early = error;
      });
    const answers = await Promise.allSettled(isInOrder ? sent.slice(1) : sent);
    isAnswered = true;
    if (isEnded(circuit)) throw this.#removedMeanwhile(circuit);
    const failure = early ?? answers.find((answer) => answer.status === 'rejected')?.reason;
    if (failure) throw failure;
    const last = answers.at(-1);
    return last?.status === 'fulfilled' ? peerDataOf(last.value) : new Map();
  }

  /** The router at the client could not install its route, after the client was answered. */
  #onIngressFailed(circuit: Circuit, error: unknown): void {
    if (isEnded(circuit)) return;
    this.#components.log.info({ circuitId: circuit.id, error: describeError(error) }, 'route of a new circuit failed');
    this.remove(circuit.id, { now: true });
  }

  #complete(circuit: Circuit, terminator: Terminator, answered: PeerData, request: CircuitRequest): NewCircuit {
    const peerData = hostPeerData(terminator);
    for (const [key, value] of answered) if (!NOT_FOR_THE_CLIENT.has(key)) peerData.set(key, value);
    // reference fact: the strategy random neither reads nor maintains costs.
    circuit.addsCost = request.service.terminatorStrategy !== 'random';
    if (circuit.addsCost) this.#components.costs.dialSucceeded(terminator.id);
    this.#countDial('service.dial.success', circuit);
    this.#components.events.emit({ kind: 'circuit', type: 'created', circuit });
    // reference fact: such a circuit is created and removed again, as events and counters show.
    if (request.service.encryptionRequired && !peerData.has(PeerDataKey.PublicKey)) {
      this.remove(circuit.id, { now: true });
      throw new CircuitError(
        EdgeErrorCode.EncryptionDataMissing,
        'encryption required on service, terminator did not send public header',
        { hint: RetryHint.StartOver, circuitId: circuit.id },
      );
    }
    if (advance(circuit, 'routed') === 'moving') this.moves.start(circuit);
    if (request.service.terminatorStrategy === 'sticky') {
      peerData.set(PeerDataKey.StickinessToken, Buffer.from(terminator.id));
    }
    return { circuit, peerData };
  }

  /** Removes the partial circuit. The terminator's cost increases if its router failed. */
  async #onFailed(circuit: Circuit, terminator: Terminator, error: unknown): Promise<void> {
    const { events, log, costs, state } = this.#components;
    const { cause, counter } = failureOf(error);
    events.emit({ kind: 'circuit', type: 'failed', circuit, cause });
    for (const routerId of circuit.path.routers) this.unroute(routerId, circuit.id, true);
    log.info(
      { circuitId: circuit.id, terminatorId: circuit.terminatorId, error: describeError(error) },
      'circuit attempt failed',
    );
    const isOfOtherRouter = error instanceof RouteFailed && error.routerId !== terminator.routerId;
    const isInvalid = error instanceof RouteFailed && error.routeCode === RouteErrorCode.InvalidTerminator;
    const withdrawn = isInvalid && !isOfOtherRouter ? this.#withdraw(circuit) : undefined;
    if (!withdrawn) this.#countDial(counter, circuit);
    if (isOfOtherRouter) return;
    if (error instanceof RouteFailed) this.#countDial('service.dial.fail', circuit);
    const strategy = state.tables.service.get(circuit.serviceId)?.terminatorStrategy;
    if (strategy !== 'random') costs.dialFailed(circuit.terminatorId);
    await withdrawn;
  }

  /**
   * Deletes an invalid terminator that its router created. One that an administrator created is misconfigured and may
   * be corrected. Resolves when the next attempt no longer selects it.
   */
  async #withdraw(circuit: Circuit): Promise<void> {
    const { state, log } = this.#components;
    const { terminatorId } = circuit;
    const binding = state.tables.terminator.get(terminatorId)?.binding ?? '';
    const isOfRouter = binding === 'edge' || binding === 'tunnel';
    this.#countDial(isOfRouter ? 'service.dial.terminator.invalid' : 'service.dial.terminator.misconfigured', circuit);
    try {
      await state.change((transaction) => {
        if (isOfRouter) transaction.delete('terminator', terminatorId);
        else transaction.patch('terminator', terminatorId, { precedence: 'failed' });
      });
    } catch (error) {
      log.error({ terminatorId, error: describeError(error) }, 'invalid terminator could not be withdrawn');
    }
  }
}

/** The peer data that the host gave when it created the terminator; every client receives it. */
function hostPeerData({ peerData }: Terminator): Map<number, Buffer> {
  const entries: Iterable<readonly [key: number | string, value: string]> =
    Symbol.iterator in peerData ? peerData : Object.entries(peerData);
  return new Map(Array.from(entries, ([key, value]) => [Number(key), Buffer.from(value, 'base64')]));
}
