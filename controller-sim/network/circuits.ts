// Circuits: choice of terminator and path, routes to every router of the path, faults, new paths, and the end
// (reference fact: control channel, sections 4.4 and 4.5).
//
//   request ─► terminator, path ─► Route to all ─► all RouteResults ─► circuit
//                     ▲────────────── a failure: next attempt ──┘

import { create, toBinary } from '@bufbuild/protobuf';
import { background } from '#lib/background.ts';
import type { Clock } from '#lib/clock.ts';
import { describeError, ProjectError } from '#lib/errors.ts';
import type { IdSource } from '#lib/ids.ts';
import type { Log } from '#lib/log.ts';
import type { Random } from '#lib/random.ts';
import { HIGH_LANE } from '#wire/control-lanes.ts';
import { UnrouteSchema } from '#wire/gen/control_pb.js';
import { ControlType, EdgeErrorCode, PeerDataKey, RetryHint, RouteErrorCode, RouteHeader } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import type { PeerData } from '#wire/peer-data.ts';
import type { State } from '../state/state.ts';
import type { Service, Terminator } from '../state/types.ts';
import type { Circuit } from './circuit.ts';
import { CircuitError, failureOf, RouteFailed } from './circuit-failure.ts';
import type { ConnectedRouter } from './connected-router.ts';
import type { Links } from './links.ts';
import type { NetworkEvents, ServiceEventType } from './network-events.ts';
import { costOf, type Path } from './paths.ts';
import { peerDataOf, routeMessage } from './route-message.ts';
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
const ROUTE_TIMEOUT = 10_000;
/** Milliseconds between attempts to move a circuit. */
const MOVE_PAUSES = [50, 100, 200, 400, 800];
const REBALANCE_MOST = 4;
const REBALANCE_SHARE = 0.02;
const REBALANCE_LEAST_GAIN = 15;
/** Marks a new path for an existing circuit. */
const REROUTE_ATTEMPT = 99_969_996;
const NOWHERE: Path = { routers: [], links: [], cost: 0 };
/** The controller keeps these: the client does not need the terminator's addresses. */
const NOT_FOR_THE_CLIENT: ReadonlySet<number> = new Set([
  PeerDataKey.TerminatorLocalAddress,
  PeerDataKey.TerminatorRemoteAddress,
]);

export class Circuits {
  readonly #components: CircuitsComponents;
  readonly #circuits = new Map<string, Circuit>();
  /** Circuits that are moving to another path; true if they need another check afterwards. */
  readonly #moving = new Map<string, boolean>();
  readonly #choice: TerminatorChoice;
  readonly #closing = new AbortController();

  constructor(components: CircuitsComponents) {
    this.#components = components;
    this.#choice = new TerminatorChoice(components);
  }

  get size(): number {
    return this.#circuits.size;
  }

  get(id: string): Circuit | undefined {
    return this.#circuits.get(id);
  }

  values(): Circuit[] {
    return [...this.#circuits.values()];
  }

  /** Cancels all moves of circuits. */
  close(): void {
    this.#closing.abort(new ProjectError('CLOSED', 'the controller is stopping'));
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
    if (this.#circuits.has(id)) throw new CircuitError(EdgeErrorCode.Internal, `circuit ${id} already exists`);
    let failure: unknown;
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const { terminator, path } = this.#choose(request, id);
      const circuit = this.#draft(request, id, terminator, path);
      this.#circuits.set(id, circuit);
      try {
        const answered = await this.#route(circuit, terminator, request.peerData, attempt);
        if (!this.#isCurrent(circuit)) throw this.#removedMeanwhile(circuit);
        return this.#complete(circuit, terminator, answered, request);
      } catch (error) {
        if (error instanceof CircuitError) throw error;
        this.#circuits.delete(id);
        this.#onFailed(circuit, terminator, error);
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
    this.#circuits.delete(id);
    if (circuit.addsCost) this.#components.costs.circuitRemoved(circuit.terminatorId);
    this.#components.events.emit({ kind: 'circuit', type: 'deleted', circuit });
    for (const routerId of circuit.path.routers) this.unroute(routerId, id, options.now);
  }

  /** Sends one router the removal of a circuit. */
  unroute(routerId: string, circuitId: string, now: boolean): void {
    const body = toBinary(UnrouteSchema, create(UnrouteSchema, { circuitId, now }));
    this.#components.routers.get(routerId)?.channel.trySend(new Message(ControlType.Unroute, [], body), HIGH_LANE);
  }

  /** Finds another path for a circuit whose traffic is blocked; without one the circuit ends. */
  reroute(id: string): void {
    if (this.#moving.has(id)) {
      this.#moving.set(id, true);
      return;
    }
    if (this.#circuits.has(id)) background(this.#components.log, 'reroute', this.#move(id));
  }

  /** One move of a circuit at a time: two would mix their forwards on routers that both paths share. */
  async #move(id: string): Promise<void> {
    do {
      this.#moving.set(id, false);
      const circuit = this.#circuits.get(id);
      if (!circuit) break;
      try {
        await this.#moveToBestPath(circuit);
        // A link that was lost or disabled while the routes were in flight did not yet belong to this circuit.
        const isWhole = circuit.path.links.every((linkId) => this.#components.links.get(linkId)?.isDown === false);
        if (!isWhole && this.#isCurrent(circuit)) this.#moving.set(id, true);
      } catch (error) {
        this.#components.log.info(
          { circuitId: id, error: describeError(error) },
          'circuit ended: no new path could be routed',
        );
        if (this.#isCurrent(circuit)) this.remove(id, { now: true });
      }
    } while (this.#moving.get(id));
    this.#moving.delete(id);
  }

  /**
   * A rejection is not final while both ends are connected. The controller may learn of a link before its other end
   * does. It may also learn of a lost link before it learns of the replacement. Rejects when all attempts failed or the
   * circuit is removed.
   */
  async #moveToBestPath(circuit: Circuit): Promise<void> {
    const { clock, routers } = this.#components;
    const ends = [circuit.path.routers[0] ?? '', circuit.path.routers.at(-1) ?? ''] as const;
    for (const pause of [...MOVE_PAUSES, undefined]) {
      try {
        const path = this.#choice.path(...ends);
        if (!path) throw new ProjectError('NO_PATH', 'no path');
        return await this.#moveTo(circuit, path);
      } catch (error) {
        const isHopeless = pause === undefined || !ends.every((end) => routers.has(end));
        if (isHopeless || !this.#isCurrent(circuit)) throw error;
        await clock.sleep(pause, { name: 'next attempt to move a circuit', signal: this.#closing.signal });
        if (!this.#isCurrent(circuit)) throw error;
      }
    }
  }

  /** Moves circuits off a lost link. */
  onLinkLost(linkId: string): void {
    for (const circuit of this.values()) if (circuit.path.links.includes(linkId)) this.reroute(circuit.id);
  }

  /** The cost of a link changed: circuits over it move if there is a better path now. */
  onLinkChanged(linkId: string): void {
    for (const { id, path } of this.values()) {
      if (!path.links.includes(linkId)) continue;
      const better = this.#choice.path(path.routers[0] ?? '', path.routers.at(-1) ?? '');
      if (better?.links.join() !== path.links.join()) this.reroute(id);
    }
  }

  /** Moves a few circuits to paths that have become much cheaper (reference fact: control channel, section 4.5). */
  rebalance(): void {
    const most = Math.min(REBALANCE_MOST, Math.max(1, Math.floor(this.#circuits.size * REBALANCE_SHARE)));
    const routers = this.#choice.routers();
    const better = this.values().flatMap((circuit) => {
      const now = costOf(circuit.path, routers, this.#components.links);
      const path = this.#choice.path(circuit.path.routers[0] ?? '', circuit.path.routers.at(-1) ?? '');
      const saved = now === undefined || !path ? 0 : now - path.cost;
      return saved >= REBALANCE_LEAST_GAIN ? [{ circuit, saved }] : [];
    });
    better.sort((a, b) => b.saved - a.saved);
    for (const { circuit } of better.slice(0, most)) this.reroute(circuit.id);
  }

  async #moveTo(circuit: Circuit, path: Path): Promise<void> {
    const before = circuit.path.routers;
    try {
      await this.#routeAgain(circuit, path);
    } catch (error) {
      // The removal reached the routers of the old path; the other routers of the new path need it, too.
      const notified = this.#isCurrent(circuit) ? before : [];
      for (const router of path.routers) if (!notified.includes(router)) this.unroute(router, circuit.id, true);
      throw error;
    }
    circuit.path = path;
    this.#components.events.emit({ kind: 'circuit', type: 'pathUpdated', circuit });
    for (const router of before) if (!path.routers.includes(router)) this.unroute(router, circuit.id, true);
  }

  /** Sends the routes of a new path, one after the other. Rejects if one fails or the circuit is removed meanwhile. */
  async #routeAgain(circuit: Circuit, path: Path): Promise<void> {
    const moved: Circuit = { ...circuit, path };
    const terminator = this.#components.state.tables.terminator.get(circuit.terminatorId);
    // The egress connection exists already; only a router that is both ends at once looks for it in the route.
    const egress = path.routers.length === 1 && terminator ? { terminator, peerData: new Map() } : undefined;
    for (const [position, id] of path.routers.entries()) {
      const message = routeMessage(moved, position, { attempt: REROUTE_ATTEMPT, timeout: ROUTE_TIMEOUT, egress });
      await this.#send(this.#connected(id), message);
      if (!this.#isCurrent(circuit))
        throw new ProjectError('CIRCUIT_REMOVED', 'the circuit was removed while it moved');
    }
  }

  /** An end failed or the circuit was removed before all routers had answered. */
  #removedMeanwhile(circuit: Circuit): CircuitError {
    for (const router of circuit.path.routers) this.unroute(router, circuit.id, true);
    return new CircuitError(EdgeErrorCode.Internal, `circuit ${circuit.id} was removed during its creation`, {
      circuitId: circuit.id,
    });
  }

  #isCurrent(circuit: Circuit): boolean {
    return this.#circuits.get(circuit.id) === circuit;
  }

  #choose(request: CircuitRequest, id: string): Candidate {
    try {
      return this.#choice.choose(request, id);
    } catch (error) {
      if (error instanceof CircuitError && error.failure !== undefined) {
        const circuit = this.#draft(request, id, undefined, NOWHERE);
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
      path,
      addsCost: false,
    };
  }

  async #route(circuit: Circuit, terminator: Terminator, peerData: PeerData, attempt: number): Promise<PeerData> {
    const egress = { terminator, peerData };
    const sent = circuit.path.routers.map((id, position) =>
      this.#send(this.#connected(id), routeMessage(circuit, position, { attempt, timeout: ROUTE_TIMEOUT, egress })),
    );
    const answers = await Promise.allSettled(sent);
    const failed = answers.find((answer) => answer.status === 'rejected');
    if (failed) throw failed.reason;
    const last = answers.at(-1);
    return last?.status === 'fulfilled' ? peerDataOf(last.value) : new Map();
  }

  #connected(routerId: string): ConnectedRouter {
    const router = this.#components.routers.get(routerId);
    if (!router) throw new RouteFailed(`router ${routerId} is not connected`, routerId, RouteErrorCode.Generic);
    return router;
  }

  async #send(router: ConnectedRouter, message: Message): Promise<Message> {
    const result = await router.channel.request(message, { timeout: ROUTE_TIMEOUT, lane: HIGH_LANE });
    if (result.headers.has(RouteHeader.Success)) return result;
    const code = (result.headers.get(RouteHeader.ErrorCode)?.[0] ?? RouteErrorCode.Generic) as RouteErrorCode;
    const why = result.string(RouteHeader.Error) ?? `router ${router.id} rejected the route`;
    throw new RouteFailed(why, router.id, code);
  }

  #complete(circuit: Circuit, terminator: Terminator, answered: PeerData, request: CircuitRequest): NewCircuit {
    const peerData = new Map<number, Buffer>(
      Object.entries(terminator.peerData).map(([key, value]) => [Number(key), Buffer.from(value, 'base64')]),
    );
    for (const [key, value] of answered) if (!NOT_FOR_THE_CLIENT.has(key)) peerData.set(key, value);
    if (request.service.encryptionRequired && !peerData.has(PeerDataKey.PublicKey)) {
      this.remove(circuit.id, { now: true });
      throw new CircuitError(
        EdgeErrorCode.EncryptionDataMissing,
        'encryption required on service, terminator did not send public header',
        { hint: RetryHint.StartOver, circuitId: circuit.id },
      );
    }
    // reference fact: the strategy random neither reads nor maintains costs.
    circuit.addsCost = request.service.terminatorStrategy !== 'random';
    if (circuit.addsCost) this.#components.costs.dialSucceeded(terminator.id);
    this.#countDial('service.dial.success', circuit);
    this.#components.events.emit({ kind: 'circuit', type: 'created', circuit });
    if (request.service.terminatorStrategy === 'sticky') {
      peerData.set(PeerDataKey.StickinessToken, Buffer.from(terminator.id));
    }
    return { circuit, peerData };
  }

  /** Removes the partial circuit. The terminator's cost increases if its router failed. */
  #onFailed(circuit: Circuit, terminator: Terminator, error: unknown): void {
    const { events, log, costs, state } = this.#components;
    const { cause, counter } = failureOf(error);
    events.emit({ kind: 'circuit', type: 'failed', circuit, cause });
    for (const routerId of circuit.path.routers) this.unroute(routerId, circuit.id, true);
    log.info(
      { circuitId: circuit.id, terminatorId: circuit.terminatorId, error: describeError(error) },
      'circuit attempt failed',
    );
    if (error instanceof RouteFailed && error.routeCode === RouteErrorCode.InvalidTerminator)
      this.#onInvalidTerminator(circuit);
    else this.#countDial(counter, circuit);
    if (error instanceof RouteFailed && error.routerId !== terminator.routerId) return;
    if (error instanceof RouteFailed) this.#countDial('service.dial.fail', circuit);
    const strategy = state.tables.service.get(circuit.serviceId)?.terminatorStrategy;
    if (strategy !== 'random') costs.dialFailed(circuit.terminatorId);
  }

  /**
   * Deletes a terminator that its router created. One that an administrator created is misconfigured and may be
   * corrected.
   */
  #onInvalidTerminator(circuit: Circuit): void {
    const { state, log } = this.#components;
    const { terminatorId } = circuit;
    const binding = state.tables.terminator.get(terminatorId)?.binding ?? '';
    const isKept = binding === 'edge' || binding === 'tunnel';
    this.#countDial(isKept ? 'service.dial.terminator.invalid' : 'service.dial.terminator.misconfigured', circuit);
    const change = state.change((transaction) => {
      if (isKept) transaction.delete('terminator', terminatorId);
      else if (transaction.get('terminator', terminatorId))
        transaction.patch('terminator', terminatorId, { precedence: 'failed' });
    });
    background(log, 'invalid terminator', change);
  }
}
