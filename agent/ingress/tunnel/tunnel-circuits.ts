// Requests a circuit to a service from a controller, with the router's own identity (reference fact: tunnel, section
// 3.3).

import { create, toBinary } from '@bufbuild/protobuf';
import { ProjectError } from '#lib/errors.ts';
import { HIGH_LANE } from '#wire/channel/control-lanes.ts';
import { CreateTunnelCircuitV2RequestSchema, CreateTunnelCircuitV2ResponseSchema } from '#wire/gen/edge_control_pb.js';
import { EdgeControlHeader, EdgeControlType } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import { type PeerData, peerDataEntries, peerDataFrom } from '#wire/peer-data.ts';
import type { Controller } from '../../control/controller.ts';
import type { Controllers } from '../../control/controllers.ts';

export interface TunnelCircuit {
  readonly circuitId: string;
  /** Address of this end. */
  readonly address: string;
  readonly peerData: PeerData;
  readonly tags: Readonly<Record<string, string>>;
  /** Id of the controller that created and owns the circuit. */
  readonly owner: string;
}

export interface TunnelCircuitRequest {
  readonly serviceName: string;
  readonly instanceId?: string;
  readonly peerData: ReadonlyMap<number, Buffer>;
  /** Milliseconds. */
  readonly timeout: number;
  readonly signal: AbortSignal;
}

/** The controller rejected the request; `detail.code` is its error code. */
export class CircuitRejectedError extends ProjectError {
  constructor(message: string, code: number | undefined) {
    super('CIRCUIT_REJECTED', message, { detail: { code } });
  }
}

/** Removes circuits whose controller answered after the request was abandoned. */
export function removeLateCircuits(
  controllers: Pick<Controllers, 'on'>,
  ends: { abandon(circuitId: string, role: 'initiator', owner: string): void },
): void {
  controllers.on(EdgeControlType.CreateTunnelCircuitV2Response, (controller, message) => {
    const { circuitId } = message.decode(CreateTunnelCircuitV2ResponseSchema);
    if (circuitId !== '') ends.abandon(circuitId, 'initiator', controller.id);
  });
}

/** Rejects with CircuitRejectedError, NoControllerError, TimeoutError. */
export async function requestTunnelCircuit(
  controllers: { readonly best: Pick<Controller, 'id' | 'request'> },
  request: TunnelCircuitRequest,
): Promise<TunnelCircuit> {
  const controller = controllers.best;
  const body = create(CreateTunnelCircuitV2RequestSchema, {
    serviceName: request.serviceName,
    terminatorInstanceId: request.instanceId ?? '',
    peerData: peerDataEntries(request.peerData),
  });
  const message = new Message(
    EdgeControlType.CreateTunnelCircuitV2,
    [],
    toBinary(CreateTunnelCircuitV2RequestSchema, body),
  );
  const { timeout, signal } = request;
  const reply = await controller.request(message, { timeout, signal, lane: HIGH_LANE });
  if (reply.contentType !== EdgeControlType.CreateTunnelCircuitV2Response) {
    throw new CircuitRejectedError(
      reply.body.toString() || `the controller answered with type ${reply.contentType}`,
      reply.uint32(EdgeControlHeader.ErrorCode),
    );
  }
  const answer = reply.decode(CreateTunnelCircuitV2ResponseSchema);
  return {
    circuitId: answer.circuitId,
    address: answer.address,
    peerData: peerDataFrom(answer.peerData),
    tags: answer.tags,
    owner: controller.id,
  };
}
