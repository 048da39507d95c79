// The rooms of a router that handle circuits, without network, for tests of routes and of circuits that end.

import { EventEmitter } from 'node:events';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { silentLog } from '#lib/log/log.ts';
import { BufferPool } from '#lib/queue/buffer-pool.ts';
import { TaskQueue } from '#lib/queue/task-queue.ts';
import { seededRandom } from '#lib/random.ts';
import { VirtualClock } from '#lib/time/clock.ts';
import {
  CircuitConfirmationSchema,
  DestType,
  FaultSchema,
  type Route,
  Route_EgressSchema,
  RouteSchema,
} from '#wire/gen/control_pb.js';
import { ControlType } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import { defaultXgressOptions } from '../../../agent/config/xgress-defaults.ts';
import type { Controller } from '../../../agent/control/controller.ts';
import { onRoute } from '../../../agent/control/messages/route.ts';
import { DialsInProgress } from '../../../agent/egress/dials-in-progress.ts';
import { type DialedEgress, Egress, type EgressRequest } from '../../../agent/egress/egress.ts';
import type { Destination } from '../../../agent/forwarder/destination.ts';
import { Faulter } from '../../../agent/forwarder/faulter.ts';
import { Forwarder } from '../../../agent/forwarder/forwarder.ts';
import { IdleScanner } from '../../../agent/forwarder/idle-scanner.ts';
import { Unrouter } from '../../../agent/forwarder/unrouter.ts';
import { MetricsRegistry } from '../../../agent/metrics/registry.ts';
import { CircuitEnds } from '../../../agent/xgress/circuit-ends.ts';

export const NO_ENDS = {
  deliver: () => true,
  end: () => undefined,
  closed: () => undefined,
  writable: () => undefined,
};

/** The rooms of a router that handle circuits, and a controller `c` that records its messages. */
export function circuitRooms() {
  const clock = new VirtualClock();
  const log = silentLog;
  const received: Message[] = [];
  const controller = { id: 'c', send: (message: Message) => void received.push(message) };
  const controllers = {
    connected: true,
    get all() {
      return this.connected ? [controller] : [];
    },
    byId(id: string) {
      return this.connected && id === 'c' ? controller : undefined;
    },
  };
  let foreign = 0;
  const forwarder = new Forwarder({ clock, log, routerId: 'r', foreign: { mark: () => void foreign++ } });
  const metrics = new MetricsRegistry(clock, () => seededRandom(1).next());
  const faulter = new Faulter({ clock, log, controllers, faults: { mark: () => undefined } }, 1_000);
  const scanner = new IdleScanner({ clock, log, forwarder, controllers }, { interval: 60_000, timeout: 60_000 });
  const unrouter = new Unrouter({ clock, log, forwarder }, 5_000);
  forwarder.onLinkLost((link) => scanner.onLinkLost(link));
  const ends = new CircuitEnds({
    buffers: new BufferPool(),
    clock,
    log,
    forwarder,
    metrics,
    faulter,
    onUnroutable: (id) => faulter.report(id, ''),
  });
  const close = () => {
    faulter.close();
    scanner.close();
    unrouter.close();
  };
  const rooms = { forwarder, faulter, scanner, unrouter, ends };
  return { clock, received, controllers, controller, ...rooms, close, foreign: () => foreign };
}

/** A link that accepts all traffic. */
export function link(address: string): Destination {
  return {
    address,
    acceptPayload: () => true,
    acceptAcknowledgement: () => true,
    acceptControl: () => true,
    onceWritable: (_circuitId, task) => setImmediate(task),
  };
}

export const confirmed = (messages: readonly Message[]) =>
  messages
    .filter(({ contentType }) => contentType === ControlType.CircuitConfirmation)
    .flatMap(({ body }) => fromBinary(CircuitConfirmationSchema, body).circuitIds);
export const faulted = (messages: readonly Message[]) =>
  messages
    .filter(({ contentType }) => contentType === ControlType.Fault)
    .map(({ body }) => fromBinary(FaultSchema, body).id);

/** A router with few dial workers, the links `link1` and `link2`, and a service that answers at the test's request. */
export function slowService({ workers = 1, length = 10, dwellTime = 0 } = {}) {
  const { close, ...rooms } = circuitRooms();
  const { clock, forwarder, ends } = rooms;
  const egress = new Egress(silentLog);
  const service = new EventEmitter();
  let abandoned = 0;
  let accepts = true;
  egress.use('slow', async (request: EgressRequest): Promise<DialedEgress> => {
    await new Promise((resolve) => service.once('answers', resolve));
    return {
      client: { ...NO_ENDS, attach: () => undefined },
      peerData: new Map(),
      hopType: request.address,
      abandon: () => void abandoned++,
    };
  });
  const dials = new DialsInProgress();
  const queue = new TaskQueue({ name: 'dials', length, workers, clock });
  const handle = onRoute({
    clock,
    log: silentLog,
    forwarder,
    egress,
    ends,
    queue,
    dials,
    onMissingLink: () => undefined,
    optionsFor: () => defaultXgressOptions(),
    dwellTime,
    acceptsCircuits: () => accepts,
  });
  const answers: Message[] = [];
  const channel = { reply: (_request: Message, answer: Message) => answers.push(answer) > 0 };
  const controller = { id: 'c', channel } as unknown as Controller;
  for (const address of ['link1', 'link2']) forwarder.registerLink(link(address));
  return {
    ...rooms,
    dials,
    answers,
    abandoned: () => abandoned,
    /** Number of dials that wait for the service. */
    dialing: () => service.listenerCount('answers'),
    isDialed: () => service.listenerCount('answers') > 0,
    route: (message: Message) => handle(controller, message),
    answer: () => void service.emit('answers'),
    /** Answers the dial that has waited longest. */
    answerOne: () => void service.rawListeners('answers')[0]?.(),
    drain() {
      accepts = false;
    },
    async close() {
      await queue.close();
      close();
    },
  };
}

export function routeMessage(circuitId: string, changes: Partial<Route> = {}): Message {
  const end = `end-${circuitId}`;
  const route: Partial<Route> = {
    circuitId,
    timeout: 10_000_000_000n,
    egress: create(Route_EgressSchema, { binding: 'slow', address: end, destination: 'x' }),
    forwards: between(end, 'link1'),
    ...changes,
  };
  return new Message(ControlType.Route, [], toBinary(RouteSchema, create(RouteSchema, route as never)));
}

export function between(one: string, other: string): Route['forwards'] {
  const typeOf = (address: string) => (address.startsWith('link') ? DestType.LINK : DestType.END);
  return [
    { srcAddress: one, dstAddress: other, dstType: typeOf(other) },
    { srcAddress: other, dstAddress: one, dstType: typeOf(one) },
  ] as Route['forwards'];
}
