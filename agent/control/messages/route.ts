// Route (1005) in, RouteResult (1022) out: dials the service if the circuit ends here, installs the forwards, and
// answers (reference fact: link, section 3).

import type { Clock } from '#lib/clock.ts';
import type { DialQueue } from '#lib/dial-queue.ts';
import { describeError, errorCode, InvariantError } from '#lib/errors.ts';
import type { Log } from '#lib/log.ts';
import { HIGH_LANE } from '#wire/control-lanes.ts';
import { DestType, type Route, RouteSchema } from '#wire/gen/control_pb.js';
import { ControlType, RouteErrorCode, RouteHeader } from '#wire/gen/numbers.ts';
import { encodeUint32, TRUE } from '#wire/header-values.ts';
import { Message } from '#wire/message.ts';
import { type PeerData, peerDataFrom } from '#wire/peer-data.ts';
import { DRAINING } from '../../drain/drain-error.ts';
import { EgressError, routeErrorCodeOf } from '../../egress/dial-errors.ts';
import type { DialsInProgress } from '../../egress/dials-in-progress.ts';
import type { DialedEgress, DialedRelay, Egress } from '../../egress/egress.ts';
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
  queue: DialQueue;
  dials: DialsInProgress;
  /** A route named an unknown link. */
  onMissingLink(linkId: string): void;
  /** Options of the circuit ends of a binding. */
  optionsFor(binding: string): XgressOptions;
  /** Milliseconds to wait before each dial; 0 or less: no wait. */
  dwellTime: number;
  /** False while the router drains. */
  acceptsCircuits(): boolean;
}

const NONE: PeerData = new Map();
const LEVELS: Readonly<Record<string, 'error' | 'debug'>> = { QUEUE_FULL: 'error', CIRCUIT_OVER: 'debug' };
/** Keys from here on are peer data; lower keys belong to the message itself. */
const ROUTE_CONTROL_HEADERS: ReadonlySet<number> = new Set(Object.values(RouteHeader));

export function onRoute(components: RouteComponents): ControlHandler {
  return (controller, message) => {
    const route = message.decode(RouteSchema);
    const arrived = components.clock.monotonic();
    const dial = components.dials.begin(route.circuitId);
    components.queue
      .add((signal) => handle(components, controller, message, route, arrived, signal), { signal: dial.signal })
      .catch((error: unknown) => {
        // As in the reference: a full queue gets no answer, so the controller's own timeout applies.
        const level = LEVELS[errorCode(error) ?? ''] ?? 'warn';
        components.log[level]({ circuitId: route.circuitId, error: describeError(error) }, 'route dropped');
      })
      .finally(dial.end);
  };
}

async function handle(
  components: RouteComponents,
  controller: Controller,
  request: Message,
  route: Route,
  arrived: number,
  signal: AbortSignal,
): Promise<void> {
  try {
    const peerData = await install(components, controller, route, arrived, signal);
    answerSuccess(controller, request, route, peerData);
  } catch (error) {
    components.log.info(
      { circuitId: route.circuitId, attempt: route.attempt, error: describeError(error) },
      'route failed',
    );
    answerFailure(controller, request, route, error);
  }
}

async function install(
  components: RouteComponents,
  controller: Controller,
  route: Route,
  arrived: number,
  signal: AbortSignal,
): Promise<PeerData> {
  const { forwarder } = components;
  const isNewEnd = route.egress !== undefined && forwarder.destination(route.egress.address) === undefined;
  const dialed = isNewEnd ? await dial(components, controller, route, arrived, signal) : undefined;
  try {
    signal.throwIfAborted();
    if (dialed) checkAccepts(components);
    checkForwards(components, route);
    const circuit = forwarder.circuits.open(route.circuitId, controller.id, route.tags);
    for (const forward of route.forwards) circuit.forwards.set(forward.srcAddress, forward.dstAddress);
  } catch (error) {
    dialed?.abandon();
    throw error;
  }
  if (!dialed || !route.egress) return NONE;
  if ('relay' in dialed) {
    dialed.relay.open(components.ends);
    return dialed.peerData;
  }
  const { address, binding } = route.egress;
  const init = {
    circuitId: route.circuitId,
    address,
    role: 'terminator' as const,
    options: components.optionsFor(binding),
    hopType: dialed.hopType,
  };
  const xgress = components.ends.open(init, dialed.client, controller.id);
  dialed.client.attach(xgress);
  xgress.start();
  dialed.opened?.();
  return dialed.peerData;
}

async function dial(
  components: RouteComponents,
  controller: Controller,
  route: Route,
  arrived: number,
  signal: AbortSignal,
): Promise<DialedEgress | DialedRelay> {
  const { clock, dwellTime } = components;
  const { egress } = route;
  if (!egress) throw new InvariantError('a route without an egress cannot be dialed');
  checkAccepts(components);
  if (dwellTime > 0) await clock.sleep(dwellTime, { name: 'egress dwell', signal });
  const allowed = Number(route.timeout / 1_000_000n);
  return components.egress.dial(egress.binding, {
    circuitId: route.circuitId,
    address: egress.address,
    destination: egress.destination,
    peerData: peerDataFrom(egress.peerData),
    timeLeft: allowed > 0 ? Math.max(1, allowed - (clock.monotonic() - arrived)) : 0,
    tags: route.tags,
    owner: controller.id,
    signal,
  });
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

function answerFailure(controller: Controller, request: Message, route: Route, error: unknown): void {
  const answer = new Message(
    ControlType.RouteResult,
    [
      [RouteHeader.Attempt, encodeUint32(route.attempt)],
      [RouteHeader.Error, describeError(error)],
      [RouteHeader.ErrorCode, Buffer.from([routeErrorCodeOf(error)])],
    ],
    route.circuitId,
  );
  controller.channel.reply(request, answer, HIGH_LANE);
}
