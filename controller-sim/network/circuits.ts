// Circuits: choice of terminator and path, routes to every router of the path, faults, new paths, and the end
// (reference fact: control channel, sections 4.4 and 4.5).
//
//   request ─► terminator, path ─► Route to all ─► all RouteResults ─► circuit
//                     ▲────────────── a failure: next attempt ──┘

import { create, toBinary } from '@bufbuild/protobuf';
import { background } from '#lib/background.ts';
import type { Clock } from '#lib/clock.ts';
import { describeError, ProjectError, TimeoutError } from '#lib/errors.ts';
import type { IdSource } from '#lib/ids.ts';
import type { Log } from '#lib/log.ts';
import type { Random } from '#lib/random.ts';
import { UnrouteSchema } from '#wire/gen/control_pb.js';
import { ControlType, EdgeErrorCode, PeerDataKey, RetryHint, RouteErrorCode, RouteHeader } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import type { State } from '../state/state.ts';
import type { Service, Terminator } from '../state/types.ts';
import type { Circuit, PeerData } from './circuit.ts';
import { type ConnectedRouter, HIGH_LANE } from './connected-router.ts';
import type { Links } from './links.ts';
import type { NetworkEvents, ServiceEventType } from './network-events.ts';
import { cheapestPath, costOf, type Path, type PathRouter } from './paths.ts';
import { peerDataOf, routeMessage } from './route-message.ts';
import { type Candidate, chooseTerminator } from './strategies.ts';

export interface CircuitRequest {
  readonly service: Service;
  /** Identity that dials. */
  readonly clientId: string;
  readonly ingressRouter: string;
  readonly instanceId: string;
  readonly peerData: PeerData;
  /** Chosen by who asks, or empty. */
  readonly circuitId: string;
}

export interface MadeCircuit {
  readonly circuit: Circuit;
  readonly peerData: PeerData;
}

/** Why there is no circuit; the code goes to who asked. */
export class CircuitError extends ProjectError {
  readonly edgeCode: EdgeErrorCode;
  readonly hint: RetryHint;
  readonly circuitId: string | undefined;

  constructor(
    edgeCode: EdgeErrorCode,
    message: string,
    options: { hint?: RetryHint; circuitId?: string; cause?: unknown } = {},
  ) {
    super('CIRCUIT', message, { cause: options.cause });
    this.edgeCode = edgeCode;
    this.hint = options.hint ?? RetryHint.Default;
    this.circuitId = options.circuitId;
  }
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
}

/** How failures that have a name of their own are counted. */
const DIAL_FAILURES: Readonly<Partial<Record<RouteErrorCode, ServiceEventType>>> = {
  [RouteErrorCode.DialTimedOut]: 'service.dial.terminator.timeout',
  [RouteErrorCode.ConnectionRefused]: 'service.dial.terminator.connection_refused',
};

const ATTEMPTS = 2;
const ROUTE_TIMEOUT = 10_000;
const REBALANCE_MOST = 4;
const REBALANCE_SHARE = 0.02;
const REBALANCE_LEAST_GAIN = 15;
/** Marks a new path for a circuit that is there already. */
const REROUTE_ATTEMPT = 99_969_996;
/** What one failure in a row adds to the cost of a terminator. */
const FAILURE_COST = 100;
/** Kept by the controller: what one end says of itself and the other need not know. */
const NOT_FOR_THE_CLIENT: ReadonlySet<number> = new Set([
  PeerDataKey.TerminatorLocalAddress,
  PeerDataKey.TerminatorRemoteAddress,
]);

class RouteFailed extends ProjectError {
  readonly routeCode: RouteErrorCode;

  constructor(message: string, routeCode: RouteErrorCode) {
    super('ROUTE_FAILED', message);
    this.routeCode = routeCode;
  }
}

export class Circuits {
  readonly #components: CircuitsComponents;
  readonly #circuits = new Map<string, Circuit>();
  /** Circuits that are being moved to another path; true when they have to be looked at again afterwards. */
  readonly #moving = new Map<string, boolean>();
  /** Failures of terminators in a row: those are tried last. */
  readonly #failures = new Map<string, number>();

  constructor(components: CircuitsComponents) {
    this.#components = components;
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

  /** Makes a circuit. Rejects with CircuitError. */
  async create(request: CircuitRequest): Promise<MadeCircuit> {
    const { ids } = this.#components;
    if (request.service.encryptionRequired && !request.peerData.has(PeerDataKey.PublicKey)) {
      throw new CircuitError(
        EdgeErrorCode.EncryptionDataMissing,
        'encryption required on service, initiator did not send public header',
        { hint: RetryHint.StartOver },
      );
    }
    const id = request.circuitId || ids.long();
    if (this.#circuits.has(id)) throw new CircuitError(EdgeErrorCode.Internal, `circuit ${id} exists already`);
    let failure: unknown;
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const { terminator, path } = this.#mustChoose(request, id);
      const circuit = this.#draft(request, id, terminator, path);
      this.#circuits.set(id, circuit);
      try {
        const answered = await this.#route(circuit, terminator, request.peerData, attempt);
        if (!this.#isCurrent(circuit)) throw this.#removedMeanwhile(circuit);
        return this.#complete(circuit, terminator, answered, request);
      } catch (error) {
        if (error instanceof CircuitError) throw error;
        this.#circuits.delete(id);
        this.#onFailed(circuit, error);
        failure = error;
      }
    }
    throw new CircuitError(
      EdgeErrorCode.Internal,
      `exceeded maximum [${ATTEMPTS}] retries creating circuit [c/${id}]: ${describeError(failure)}`,
      { circuitId: id, cause: failure },
    );
  }

  /** An end of the circuit is gone, or nobody wants it any more. */
  remove(id: string, options: { now: boolean }): void {
    const circuit = this.#circuits.get(id);
    if (!circuit) return;
    this.#circuits.delete(id);
    this.#components.events.emit({ kind: 'circuit', type: 'deleted', circuit });
    for (const routerId of circuit.path.routers) this.unroute(routerId, id, options.now);
  }

  /** Tells one router to take a circuit down. */
  unroute(routerId: string, circuitId: string, now: boolean): void {
    const body = toBinary(UnrouteSchema, create(UnrouteSchema, { circuitId, now }));
    this.#components.routers.get(routerId)?.channel.trySend(new Message(ControlType.Unroute, [], body), HIGH_LANE);
  }

  /** Another path for a circuit whose traffic does not get through; without one it ends. */
  reroute(id: string): void {
    if (this.#moving.has(id)) {
      this.#moving.set(id, true);
      return;
    }
    if (this.#circuits.has(id)) background(this.#components.log, 'reroute', this.#move(id));
  }

  /** One move of a circuit at a time: two would mix their forwards on the routers that both paths share. */
  async #move(id: string): Promise<void> {
    do {
      this.#moving.set(id, false);
      const circuit = this.#circuits.get(id);
      if (!circuit) break;
      const path = this.#path(circuit.path.routers[0] ?? '', circuit.path.routers.at(-1) ?? '');
      try {
        if (!path) throw new ProjectError('NO_PATH', 'there is no path');
        await this.#moveTo(circuit, path);
      } catch (error) {
        this.#components.log.info(
          { circuitId: id, error: describeError(error) },
          'circuit ended: it could not be routed anew',
        );
        if (this.#isCurrent(circuit)) this.remove(id, { now: true });
      }
    } while (this.#moving.get(id));
    this.#moving.delete(id);
  }

  /** What failures in a row add to the cost of a terminator. */
  dynamicCost(terminatorId: string): number {
    return (this.#failures.get(terminatorId) ?? 0) * FAILURE_COST;
  }

  /** A terminator is gone, and what is known about it. */
  forgetTerminator(id: string): void {
    this.#failures.delete(id);
  }

  /** Circuits over a link that is gone get another path. */
  onLinkLost(linkId: string): void {
    for (const circuit of this.values()) if (circuit.path.links.includes(linkId)) this.reroute(circuit.id);
  }

  /** Another cost: circuits over the link move where there is a better path now. */
  onLinkChanged(linkId: string): void {
    for (const { id, path } of this.values()) {
      if (!path.links.includes(linkId)) continue;
      const better = this.#path(path.routers[0] ?? '', path.routers.at(-1) ?? '');
      if (better?.links.join() !== path.links.join()) this.reroute(id);
    }
  }

  /** Moves a few circuits to paths that have become much cheaper (reference fact: control channel, section 4.5). */
  rebalance(): void {
    const most = Math.min(REBALANCE_MOST, Math.max(1, Math.floor(this.#circuits.size * REBALANCE_SHARE)));
    const routers = this.#usable();
    const better = this.values().flatMap((circuit) => {
      const now = costOf(circuit.path, routers, this.#components.links);
      const path = this.#path(circuit.path.routers[0] ?? '', circuit.path.routers.at(-1) ?? '');
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
      // The removal reached the routers of the old path; the routers of the new path need it as well.
      const told = this.#isCurrent(circuit) ? before : [];
      for (const router of path.routers) if (!told.includes(router)) this.unroute(router, circuit.id, true);
      throw error;
    }
    circuit.path = path;
    this.#components.events.emit({ kind: 'circuit', type: 'pathUpdated', circuit });
    for (const router of before) if (!path.routers.includes(router)) this.unroute(router, circuit.id, true);
  }

  /** Sends the routes of a new path, one after the other. Rejects when one fails or the circuit is removed meanwhile. */
  async #routeAgain(circuit: Circuit, path: Path): Promise<void> {
    const moved: Circuit = { ...circuit, path };
    const terminator = this.#components.state.tables.terminator.get(circuit.terminatorId);
    // The egress is there already; only a router that is both ends at once looks for it in the route.
    const egress = path.routers.length === 1 && terminator ? { terminator, peerData: new Map() } : undefined;
    for (const [position, id] of path.routers.entries()) {
      const message = routeMessage(moved, position, { attempt: REROUTE_ATTEMPT, timeout: ROUTE_TIMEOUT, egress });
      await this.#send(this.#connected(id), message);
      if (!this.#isCurrent(circuit)) throw new ProjectError('CIRCUIT_REMOVED', 'it was removed while it moved');
    }
  }

  /** An end failed or somebody removed the circuit before all routers had answered. */
  #removedMeanwhile(circuit: Circuit): CircuitError {
    for (const router of circuit.path.routers) this.unroute(router, circuit.id, true);
    return new CircuitError(EdgeErrorCode.Internal, `circuit ${circuit.id} was removed while it was being made`, {
      circuitId: circuit.id,
    });
  }

  #isCurrent(circuit: Circuit): boolean {
    return this.#circuits.get(circuit.id) === circuit;
  }

  #mustChoose(request: CircuitRequest, circuitId: string): Candidate {
    try {
      return this.#choose(request, circuitId);
    } catch (error) {
      this.#countDial('service.dial.error_other', request.service.id);
      throw error;
    }
  }

  #countDial(type: ServiceEventType, serviceId: string, terminatorId = ''): void {
    this.#components.events.emit({ kind: 'service', type, serviceId, terminatorId });
  }

  #choose(request: CircuitRequest, circuitId: string): Candidate {
    const { state, routers, random } = this.#components;
    const { service, instanceId } = request;
    const all = state.tables.terminator.referring('serviceId', service.id);
    const candidates = all
      .filter((terminator) => terminator.instanceId === instanceId && routers.has(terminator.routerId))
      .flatMap((terminator) => {
        const path = this.#path(request.ingressRouter, terminator.routerId);
        return path ? [{ terminator, path, cost: this.#cost(terminator, path) }] : [];
      });
    const stickiness = request.peerData.get(PeerDataKey.StickinessToken)?.toString();
    const chosen = chooseTerminator(service.terminatorStrategy, candidates, random, stickiness);
    if (chosen) return chosen;
    const why = all.length === 0 ? 'has no terminators' : 'has no terminators that can be reached';
    const instance = instanceId === '' ? '' : ` for instanceId ${instanceId}`;
    throw new CircuitError(EdgeErrorCode.Internal, `service ${service.id} ${why}${instance}`, { circuitId });
  }

  /** Failures count like distance: smart routing prefers what works. */
  #cost(terminator: Terminator, path: Path): number {
    return terminator.cost + path.cost + this.dynamicCost(terminator.id);
  }

  #path(from: string, to: string): Path | undefined {
    return cheapestPath(from, to, this.#usable(), this.#components.links.values());
  }

  /** Connected routers with what they cost. */
  #usable(): Map<string, PathRouter> {
    const { state, routers } = this.#components;
    const usable = new Map<string, PathRouter>();
    for (const id of routers.keys()) {
      const router = state.tables.router.get(id);
      if (router) usable.set(id, { id, cost: router.cost, noTraversal: router.noTraversal });
    }
    return usable;
  }

  #draft(request: CircuitRequest, id: string, terminator: Terminator, path: Path): Circuit {
    const { ids, clock } = this.#components;
    const tags = { serviceId: request.service.id, clientId: request.clientId, hostId: terminator.hostId };
    return {
      id,
      serviceId: request.service.id,
      clientId: request.clientId,
      terminatorId: terminator.id,
      ingress: ids.long(),
      egress: ids.long(),
      tags,
      createdAt: clock.now(),
      path,
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
    if (!router) throw new RouteFailed(`router ${routerId} is not connected`, RouteErrorCode.Generic);
    return router;
  }

  async #send(router: ConnectedRouter, message: Message): Promise<Message> {
    const result = await router.channel.request(message, { timeout: ROUTE_TIMEOUT, lane: HIGH_LANE });
    if (result.headers.has(RouteHeader.Success)) return result;
    const code = (result.headers.get(RouteHeader.ErrorCode)?.[0] ?? RouteErrorCode.Generic) as RouteErrorCode;
    throw new RouteFailed(result.string(RouteHeader.Error) ?? `router ${router.id} refused the route`, code);
  }

  #complete(circuit: Circuit, terminator: Terminator, answered: PeerData, request: CircuitRequest): MadeCircuit {
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
    this.#failures.delete(terminator.id);
    this.#countDial('service.dial.success', request.service.id, terminator.id);
    this.#components.events.emit({ kind: 'circuit', type: 'created', circuit });
    if (request.service.terminatorStrategy === 'sticky') {
      peerData.set(PeerDataKey.StickinessToken, Buffer.from(terminator.id));
    }
    return { circuit, peerData };
  }

  /** What was set up is taken down, and a terminator that does not exist any more is forgotten. */
  #onFailed(circuit: Circuit, error: unknown): void {
    this.#components.events.emit({ kind: 'circuit', type: 'failed', circuit, cause: describeError(error) });
    for (const routerId of circuit.path.routers) this.unroute(routerId, circuit.id, true);
    this.#failures.set(circuit.terminatorId, (this.#failures.get(circuit.terminatorId) ?? 0) + 1);
    this.#components.log.info(
      { circuitId: circuit.id, terminatorId: circuit.terminatorId, error: describeError(error) },
      'circuit attempt failed',
    );
    const code = error instanceof RouteFailed ? error.routeCode : undefined;
    if (code === RouteErrorCode.InvalidTerminator) this.#onInvalidTerminator(circuit);
    else if (error instanceof TimeoutError)
      this.#countDial('service.dial.timeout', circuit.serviceId, circuit.terminatorId);
    else {
      const type = code === undefined ? undefined : DIAL_FAILURES[code];
      if (type) this.#countDial(type, circuit.serviceId, circuit.terminatorId);
      else this.#countDial('service.dial.error_other', circuit.serviceId);
    }
  }

  /** A terminator that the router made itself is gone; one that an administrator made is wrong, and may be put right. */
  #onInvalidTerminator({ serviceId, terminatorId }: Circuit): void {
    const { state, log } = this.#components;
    const binding = state.tables.terminator.get(terminatorId)?.binding ?? '';
    const isKept = binding === 'edge' || binding === 'tunnel';
    this.#countDial(`service.dial.terminator.${isKept ? 'invalid' : 'misconfigured'}`, serviceId, terminatorId);
    const change = state.change((transaction) => {
      if (isKept) transaction.delete('terminator', terminatorId);
      else if (transaction.get('terminator', terminatorId))
        transaction.patch('terminator', terminatorId, { precedence: 'failed' });
    });
    background(log, 'invalid terminator', change);
  }
}
