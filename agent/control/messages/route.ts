// Route (1005) in, RouteResult (1022) out: dials the service if the circuit ends here, installs the forwards, and
// answers (reference fact: link, section 3).

import { describeError, errorCode, InvariantError } from '#lib/errors.ts';
import type { Log } from '#lib/log/log.ts';
import type { TaskQueue } from '#lib/queue/task-queue.ts';
import type { Clock } from '#lib/time/clock.ts';
import { HIGH_LANE } from '#wire/channel/control-lanes.ts';
import { DestType, type Route, RouteSchema } from '#wire/gen/control_pb.js';
import { ControlType, RouteErrorCode, RouteHeader } from '#wire/gen/numbers.ts';
import { encodeUint32, TRUE } from '#wire/header-values.ts';
import { Message } from '#wire/message.ts';
import { type PeerData, peerDataFrom } from '#wire/peer-data.ts';
import { DRAINING } from '../../drain/drain-error.ts';
import { EgressError, routeErrorCodeOf } from '../../egress/dial-errors.ts';
import type { DialsInProgress } from '../../egress/dials-in-progress.ts';
import type { DialedEgress, DialedRelay, Egress } from '../../egress/egress.ts';
import { circuitOwner } from '../../forwarder/circuit-table.ts';
import type { Forwarder } from '../../forwarder/forwarder.ts';
import type { CircuitEnds } from '../../xgress/circuit-ends.ts';
import type { XgressOptions } from '../../xgress/options.ts';
import type { Controller } from '../controller.ts';
import type { ControlHandler } from '../controllers.ts';

export interface RouteComponents {
  clock: Clock;
  log: Log;
  forwarder: Forwarder;
  egress: Egress;
  ends: CircuitEnds;
  queue: TaskQueue;
  dials: DialsInProgress;
  /** A route named an unknown link. */
  onMissingLink(linkId: string): void;
  /** Options of the circuit ends of a binding. */
  optionsFor(binding: string): XgressOptions;
  /** Milliseconds to wait before each dial; 0 or less: no wait. */
  dwellTime: number;
  /** False while the router drains. */
  acceptsCircuits(): boolean;
  /** For metrics: a service could not be dialed, or the queue of dials is full. */
  onDialFailed?(error: unknown): void;
}

const NONE: PeerData = new Map();
const QUEUE_FULL = 'QUEUE_FULL';
const LEVELS: Readonly<Record<string, 'debug'>> = { CIRCUIT_OVER: 'debug' };
/** Keys from here on are peer data; lower keys belong to the message itself. */
const ROUTE_CONTROL_HEADERS: ReadonlySet<number> = new Set(Object.values(RouteHeader));

export function onRoute(components: RouteComponents): ControlHandler {
  return (controller, message) => {
    const route = message.decode(RouteSchema);
    if (createsEnd(components, route)) queueDial(components, controller, message, route);
    else installAndAnswer(components, controller, message, route);
  };
}

function createsEnd({ forwarder }: RouteComponents, { egress }: Route): boolean {
  return egress !== undefined && forwarder.destination(egress.address) === undefined;
}

function queueDial(components: RouteComponents, controller: Controller, request: Message, route: Route): void {
  const arrived = components.clock.monotonic();
  const dialing = components.dials.begin(route.circuitId, route.attempt);
  const { signal } = dialing;
  components.queue
    .add((queued) => dialAndAnswer(components, controller, request, route, arrived, queued), {
      signal,
      owner: ownerOf(route),
      target: terminatorOf(route),
    })
    .catch((error: unknown) => {
      // The reference gives no answer if its queue is full, and its controller waits. An answer lets it try another
      // terminator at once.
      if (errorCode(error) === QUEUE_FULL) {
        components.onDialFailed?.(error);
        answerFailure(components, controller, request, route, error);
      } else {
        const level = LEVELS[errorCode(error) ?? ''] ?? 'warn';
        components.log[level]({ circuitId: route.circuitId, error: describeError(error) }, 'route dropped');
      }
    })
    .finally(dialing.end);
}

/**
 * Clients share the queue: one that dials many services must not use all workers. The circuit does not exist yet, so
 * its route tells the owner.
 */
function ownerOf({ tags, egress, forwards }: Route): string {
  const isBack = ({ srcAddress, dstType }: Route['forwards'][number]) =>
    srcAddress === egress?.address && dstType === DestType.LINK;
  return circuitOwner(tags, () => forwards.find(isBack)?.dstAddress);
}

/** Terminators share the queue, too: a host that never answers must not hold up the circuits of other services. */
function terminatorOf({ egress }: Route): string {
  return `${egress?.binding} ${egress?.destination}`;
}

async function dialAndAnswer(
  components: RouteComponents,
  controller: Controller,
  request: Message,
  route: Route,
  arrived: number,
  signal: AbortSignal,
): Promise<void> {
  // An earlier attempt of the same circuit may have created the end meanwhile.
  if (!createsEnd(components, route)) return installAndAnswer(components, controller, request, route);
  try {
    const dialed = await dial(components, controller, route, arrived, signal);
    try {
      signal.throwIfAborted();
      checkAccepts(components);
      install(components, controller, route);
    } catch (error) {
      dialed.abandon();
      throw error;
    }
    // The same route, repeated, may have created the end during the dial: its circuit may carry data already.
    if (!createsEnd(components, route)) {
      dialed.abandon();
      return answerSuccess(controller, request, route, NONE);
    }
    components.ends.endEarlier(route.circuitId);
    openEnd(components, controller, route, dialed);
    answerSuccess(controller, request, route, dialed.peerData);
  } catch (error) {
    answerFailure(components, controller, request, route, error);
  }
}

/** A route without a dial neither waits for one nor for a worker of the queue. */
function installAndAnswer(components: RouteComponents, controller: Controller, request: Message, route: Route): void {
  try {
    install(components, controller, route);
    answerSuccess(controller, request, route, NONE);
  } catch (error) {
    answerFailure(components, controller, request, route, error);
  }
}

function install(components: RouteComponents, controller: Controller, route: Route): void {
  checkForwards(components, route);
  const circuit = components.forwarder.circuits.open(route.circuitId, controller.id, route.tags);
  for (const forward of route.forwards) circuit.forwards.set(forward.srcAddress, forward.dstAddress);
}

function openEnd(
  components: RouteComponents,
  controller: Controller,
  { circuitId, egress }: Route,
  dialed: DialedEgress | DialedRelay,
): void {
  if ('relay' in dialed) return dialed.relay.open(components.ends);
  const { address, binding } = dialedEgress(egress);
  const options = components.optionsFor(binding);
  const { hopType, right } = dialed;
  const init = { circuitId, address, role: 'terminator' as const, options, hopType, right };
  const xgress = components.ends.open(init, dialed.client, controller.id);
  dialed.client.attach(xgress);
  xgress.start();
  dialed.opened?.();
}

async function dial(
  components: RouteComponents,
  controller: Controller,
  route: Route,
  arrived: number,
  signal: AbortSignal,
): Promise<DialedEgress | DialedRelay> {
  const { clock, dwellTime } = components;
  const egress = dialedEgress(route.egress);
  checkAccepts(components);
  if (dwellTime > 0) await clock.sleep(dwellTime, { name: 'egress dwell', signal });
  const allowed = Number(route.timeout / 1_000_000n);
  const request = {
    circuitId: route.circuitId,
    address: egress.address,
    destination: egress.destination,
    peerData: peerDataFrom(egress.peerData),
    timeLeft: allowed > 0 ? Math.max(1, allowed - (clock.monotonic() - arrived)) : 0,
    tags: route.tags,
    owner: controller.id,
    signal,
  };
  try {
    return await components.egress.dial(egress.binding, request);
  } catch (error) {
    components.onDialFailed?.(error);
    throw error;
  }
}

function dialedEgress(egress: Route['egress']): NonNullable<Route['egress']> {
  if (!egress) throw new InvariantError('a route without an egress cannot be dialed');
  return egress;
}

/** Also checked after the dial: an end created after the start of a drain would never be closed. */
function checkAccepts({ acceptsCircuits }: RouteComponents): void {
  if (!acceptsCircuits()) throw new EgressError(RouteErrorCode.Generic, DRAINING);
}

/**
 * The route's links must exist, and a terminating end must exist or be created by this route; an initiating end may
 * follow later.
 */
function checkForwards(components: RouteComponents, route: Route): void {
  for (const { dstAddress, dstType } of route.forwards) {
    if (components.forwarder.destination(dstAddress)) continue;
    if (dstType === DestType.LINK) {
      components.onMissingLink(dstAddress);
      throw new EgressError(RouteErrorCode.InvalidLinkDestination, `unknown link ${dstAddress}`);
    }
    if (dstType === DestType.END && dstAddress !== route.egress?.address)
      throw new EgressError(RouteErrorCode.Generic, `unknown circuit end ${dstAddress}`);
  }
}

function answerSuccess(controller: Controller, request: Message, route: Route, peerData: PeerData): void {
  const answer = new Message(ControlType.RouteResult, [], route.circuitId);
  for (const [key, value] of peerData) if (!ROUTE_CONTROL_HEADERS.has(key)) answer.headers.set(key, value);
  answer.headers.set(RouteHeader.Attempt, encodeUint32(route.attempt));
  answer.headers.set(RouteHeader.Success, TRUE);
  controller.channel.reply(request, answer, HIGH_LANE);
}

function answerFailure(
  { log }: RouteComponents,
  controller: Controller,
  request: Message,
  route: Route,
  error: unknown,
): void {
  const { circuitId, attempt } = route;
  log.info({ circuitId, attempt, error: describeError(error) }, 'route failed');
  const answer = new Message(
    ControlType.RouteResult,
    [
      [RouteHeader.Attempt, encodeUint32(attempt)],
      [RouteHeader.Error, describeError(error)],
      [RouteHeader.ErrorCode, Buffer.from([routeErrorCodeOf(error)])],
    ],
    circuitId,
  );
  controller.channel.reply(request, answer, HIGH_LANE);
}
