// Opens circuits for listeners without identities: sends a CircuitRequest to the controller, which decides by the
// service alone (reference fact: tunnel, section 2).

import { create, toBinary } from '@bufbuild/protobuf';
import { ProjectError } from '#lib/errors.ts';
import { HIGH_LANE } from '#wire/channel/control-lanes.ts';
import { CircuitRequestSchema } from '#wire/gen/control_pb.js';
import { ControlType, RouteHeader } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import type { Controller } from '../../control/controller.ts';
import type { Controllers } from '../../control/controllers.ts';
import { DrainingError } from '../../drain/drain-error.ts';
import type { CircuitEnds } from '../../xgress/circuit-ends.ts';
import type { XgressOptions } from '../../xgress/options.ts';
import type { Xgress } from '../../xgress/xgress.ts';
import type { XgressClient } from '../../xgress/xgress-client.ts';

export interface FabricDialerComponents {
  controllers: { readonly best: Pick<Controller, 'id' | 'request'> };
  ends: Pick<CircuitEnds, 'open' | 'abandon'>;
  /** False while the router drains. */
  acceptsCircuits(): boolean;
}

export interface FabricDialerInit {
  /** Options of the circuit ends; getCircuitTimeout bounds the wait for a circuit. */
  readonly options: XgressOptions;
  /** For trace route: `xgress/transport`, … */
  readonly hopType: string;
}

export interface FabricRequest {
  /** The name that the client sends. The controller displays it as the circuit's client; it grants no rights. */
  readonly clientId: string;
  /** Id or name of the service; `instance@service` for one terminator instance. */
  readonly service: string;
  readonly signal: AbortSignal;
}

/** Removes circuits whose controller answered after the request was abandoned. */
export function removeLateFabricCircuits(
  controllers: Pick<Controllers, 'on'>,
  ends: { abandon(circuitId: string, role: 'initiator', owner: string): void },
): void {
  controllers.on(ControlType.CircuitSuccess, (controller, message) =>
    ends.abandon(message.body.toString(), 'initiator', controller.id),
  );
}

export class FabricDialer {
  readonly #components: FabricDialerComponents;
  readonly #init: FabricDialerInit;

  constructor(components: FabricDialerComponents, init: FabricDialerInit) {
    this.#components = components;
    this.#init = init;
  }

  /**
   * Resolves with the circuit's id when the client is attached. `before` receives the id before any data of the
   * circuit. Rejects with ProjectError if the controller rejects, TimeoutError, NoControllerError.
   */
  async dial(
    request: FabricRequest,
    client: XgressClient & { attach(xgress: Xgress): void },
    before: (circuitId: string) => void = () => undefined,
  ): Promise<string> {
    const { controllers, ends, acceptsCircuits } = this.#components;
    const { options, hopType } = this.#init;
    const { clientId, service, signal } = request;
    const controller = controllers.best;
    const body = toBinary(CircuitRequestSchema, create(CircuitRequestSchema, { ingressId: clientId, service }));
    const reply = await controller.request(new Message(ControlType.CircuitRequest, [], body), {
      timeout: options.getCircuitTimeout,
      signal,
      lane: HIGH_LANE,
    });
    const circuitId = reply.body.toString();
    if (reply.contentType !== ControlType.CircuitSuccess) throw rejection(reply);
    if (!acceptsCircuits()) {
      ends.abandon(circuitId, 'initiator', controller.id);
      throw new DrainingError();
    }
    const address = reply.string(RouteHeader.IngressAddress) ?? '';
    const xgress = ends.open({ circuitId, address, role: 'initiator', options, hopType }, client, controller.id);
    xgress.usageTags = { ...xgress.usageTags, serviceId: service };
    before(circuitId);
    client.attach(xgress);
    xgress.start();
    return circuitId;
  }
}

function rejection({ contentType, body }: Message): ProjectError {
  const text =
    contentType === ControlType.CircuitFailed ? body.toString() : `the controller answered with type ${contentType}`;
  return new ProjectError('CIRCUIT_REJECTED', text);
}
