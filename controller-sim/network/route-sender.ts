// Sends routes and their removal to connected routers, and reads the answers.
//
//   Route ─► router ─► RouteResult: success, or the error code of the router            Unroute ─► router, no answer

import { create, toBinary } from '@bufbuild/protobuf';
import { HIGH_LANE } from '#wire/channel/control-lanes.ts';
import { UnrouteSchema } from '#wire/gen/control_pb.js';
import { ControlType, RouteErrorCode, RouteHeader } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import type { Circuit } from './circuit.ts';
import { RouteFailed } from './circuit-failure.ts';
import type { ConnectedRouter } from './connected-router.ts';
import { type RouteOptions, routeMessage } from './route-message.ts';

/** Milliseconds for a router to answer, including the dial of the last one. */
const ROUTE_TIMEOUT = 10_000;
const CODES = Object.values(RouteErrorCode);

export class RouteSender {
  readonly #routers: ReadonlyMap<string, ConnectedRouter>;

  constructor(routers: ReadonlyMap<string, ConnectedRouter>) {
    this.#routers = routers;
  }

  /**
   * Sends the route for a position of the circuit's path. Resolves with the result; rejects with RouteFailed or
   * TimeoutError.
   */
  async route(circuit: Circuit, position: number, options: Omit<RouteOptions, 'timeout'>): Promise<Message> {
    const id = circuit.path.routers[position] ?? '';
    const router = this.#routers.get(id);
    if (!router) throw new RouteFailed(`router ${id} is not connected`, id, RouteErrorCode.Generic);
    const message = routeMessage(circuit, position, { ...options, timeout: ROUTE_TIMEOUT });
    const result = await router.channel.request(message, { timeout: ROUTE_TIMEOUT, lane: HIGH_LANE });
    if (result.headers.has(RouteHeader.Success)) return result;
    const text = result.string(RouteHeader.Error) ?? `router ${id} rejected the route`;
    throw new RouteFailed(text, id, routeErrorCode(result.headers.get(RouteHeader.ErrorCode)?.[0]));
  }

  /** Removes a circuit from one router. Returns false if it is not connected, or has too many messages to read. */
  unroute(routerId: string, circuitId: string, now: boolean): boolean {
    const router = this.#routers.get(routerId);
    if (!router) return false;
    const body = toBinary(UnrouteSchema, create(UnrouteSchema, { circuitId, now }));
    return router.channel.trySend(new Message(ControlType.Unroute, [], body), HIGH_LANE);
  }
}

/** Newer routers may send further codes. */
function routeErrorCode(sent: number | undefined): RouteErrorCode {
  return CODES.find((code) => code === sent) ?? RouteErrorCode.Generic;
}
