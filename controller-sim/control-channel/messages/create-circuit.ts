// Circuit requests from four sources: clients with a session token (V1 of older routers, V2), clients with only an API
// session (V3), the router's own tunneler, and listeners without identities (reference fact: control channel, section
// 4.4). Successful answers use the lane of routes, so that they follow those of the circuit; the reference uses the
// other one, and routers accept every message on both.

import { create, toBinary } from '@bufbuild/protobuf';
import { describeError } from '#lib/errors.ts';
import { HIGH_LANE } from '#wire/channel/control-lanes.ts';
import { CircuitRequestSchema } from '#wire/gen/control_pb.js';
import {
  type CreateCircuitForServiceRequest,
  type CreateCircuitRequest,
  CreateCircuitRequestSchema,
  CreateCircuitResponseSchema,
  type CreateTunnelCircuitV2Request,
  CreateTunnelCircuitV2RequestSchema,
  CreateTunnelCircuitV2ResponseSchema,
} from '#wire/gen/edge_control_pb.js';
import { ControlType, EdgeControlHeader, EdgeControlType } from '#wire/gen/numbers.ts';
import { decodeBytesMap, encodeBytesMap, encodeStringMap } from '#wire/header-values.ts';
import { Message } from '#wire/message.ts';
import { peerDataEntries, peerDataFrom } from '#wire/peer-data.ts';
import type { NewCircuit } from '../../network/circuits.ts';
import type { ConnectedRouter } from '../../network/connected-router.ts';
import type { ControlContext, ControlHandler } from '../context.ts';
import { edgeErrorMessage } from './edge-error.ts';
import {
  type CheckedSession,
  checkApiSession,
  checkServiceSession,
  checkTunneler,
  type SessionComponents,
} from './session-check.ts';

/** Header of a successful answer to a listener: the ingress address. */
const INGRESS_ADDRESS = 1100;

export const onCreateCircuit: ControlHandler<keyof SessionComponents | 'network'> = async (
  context,
  router,
  message,
) => {
  try {
    const request = message.decode(CreateCircuitRequestSchema);
    const tokens = { session: request.sessionToken, apiSession: request.apiSessionToken };
    const { identity, service } = await checkServiceSession(context, router.id, tokens, 'Dial');
    const created = await requestedCircuit(context, router, request, { identity, service });
    const response = create(CreateCircuitResponseSchema, responseFields(created));
    const body = toBinary(CreateCircuitResponseSchema, response);
    const success = new Message(EdgeControlType.CreateCircuitResponse, [], body);
    endIfUnsent(context, created, router.channel.reply(message, success, HIGH_LANE));
  } catch (error) {
    router.channel.reply(message, edgeErrorMessage(error));
  }
};

export const onCreateCircuitV2: ControlHandler<keyof SessionComponents | 'network'> = async (
  context,
  router,
  message,
) => {
  await answer(context, router, message, EdgeControlType.CreateCircuitV2Response, async () => {
    const tokens = {
      session: message.string(EdgeControlHeader.SessionToken),
      apiSession: message.string(EdgeControlHeader.ApiSessionToken),
    };
    const checked = await checkServiceSession(context, router.id, tokens, 'Dial');
    return circuitOf(context, router, message, checked, '');
  });
};

export const onCreateCircuitV3: ControlHandler<keyof SessionComponents | 'network'> = async (
  context,
  router,
  message,
) => {
  await answer(context, router, message, EdgeControlType.CreateCircuitV3Response, async () => {
    const checked = await checkApiSession(context, router.id, {
      apiSession: message.string(EdgeControlHeader.ApiSessionToken),
      identityId: message.string(EdgeControlHeader.IdentityId) ?? '',
      serviceId: message.string(EdgeControlHeader.ServiceId) ?? '',
    });
    return circuitOf(context, router, message, checked, message.string(EdgeControlHeader.CircuitId) ?? '');
  });
};

export const onCreateTunnelCircuit: ControlHandler<'state' | 'access' | 'network' | 'clock'> = async (
  context,
  router,
  message,
) => {
  try {
    const request = message.decode(CreateTunnelCircuitV2RequestSchema);
    const { identity, service } = checkTunneler(
      context,
      router.id,
      context.state.tables.service.findBy('name', request.serviceName),
      'Dial',
    );
    const created = await requestedCircuit(context, router, request, { identity, service });
    const response = create(CreateTunnelCircuitV2ResponseSchema, responseFields(created));
    const body = toBinary(CreateTunnelCircuitV2ResponseSchema, response);
    const success = new Message(EdgeControlType.CreateTunnelCircuitV2Response, [], body);
    endIfUnsent(context, created, router.channel.reply(message, success, HIGH_LANE));
  } catch (error) {
    router.channel.reply(message, edgeErrorMessage(error));
  }
};

/** The request names the service by id or name, optionally with an instance: `instance@service`. */
export const onCircuitRequest: ControlHandler<'state' | 'network'> = async (context, router, message) => {
  try {
    const request = message.decode(CircuitRequestSchema);
    const [name = '', instanceId = ''] = request.service.split('@').reverse();
    const { service: services } = context.state.tables;
    const service = services.get(name) ?? services.findBy('name', name);
    if (!service) throw new Error(`service ${name} not found`);
    const created = await context.network.circuits.create({
      service,
      clientId: request.ingressId,
      ingressRouter: router.id,
      instanceId,
      peerData: peerDataFrom(request.peerData),
      circuitId: '',
    });
    const { circuit, peerData } = created;
    const headers: (readonly [number, Buffer | string])[] = [[INGRESS_ADDRESS, circuit.ingress], ...peerData];
    const success = new Message(ControlType.CircuitSuccess, headers, circuit.id);
    endIfUnsent(context, created, router.channel.reply(message, success, HIGH_LANE));
  } catch (error) {
    router.channel.reply(message, new Message(ControlType.CircuitFailed, [], describeError(error)), HIGH_LANE);
  }
};

function circuitOf(
  context: Pick<ControlContext, 'network'>,
  router: ConnectedRouter,
  message: Message,
  { identity, service }: CheckedSession,
  circuitId: string,
): Promise<NewCircuit> {
  return context.network.circuits.create({
    service,
    clientId: identity.id,
    ingressRouter: router.id,
    instanceId: message.string(EdgeControlHeader.TerminatorInstanceId) ?? '',
    peerData: decodeBytesMap(message.headers.get(EdgeControlHeader.PeerData)),
    circuitId,
  });
}

async function answer(
  context: Pick<ControlContext, 'network'>,
  router: ConnectedRouter,
  message: Message,
  type: number,
  make: () => Promise<NewCircuit>,
): Promise<void> {
  try {
    const created = await make();
    const { circuit, peerData } = created;
    const headers = [
      [EdgeControlHeader.SessionToken, circuit.id],
      [EdgeControlHeader.Fingerprints, circuit.ingress],
      [EdgeControlHeader.PeerData, encodeBytesMap(peerData)],
      [EdgeControlHeader.TerminatorInstanceId, encodeStringMap(circuit.tags)],
    ] as const;
    endIfUnsent(context, created, router.channel.reply(message, new Message(type, headers), HIGH_LANE));
  } catch (error) {
    router.channel.reply(message, edgeErrorMessage(error));
  }
}

/** Creates the circuit of a request of an SDK client of an older router, or of a tunneler. */
export function requestedCircuit(
  { network }: Pick<ControlContext, 'network'>,
  { id: ingressRouter }: ConnectedRouter,
  {
    terminatorInstanceId: instanceId,
    peerData,
  }: CreateCircuitRequest | CreateTunnelCircuitV2Request | CreateCircuitForServiceRequest,
  { identity, service }: CheckedSession,
): Promise<NewCircuit> {
  const peer = peerDataFrom(peerData);
  return network.circuits.create({
    service,
    clientId: identity.id,
    ingressRouter,
    instanceId,
    peerData: peer,
    circuitId: '',
  });
}

/** Ends a circuit whose router disconnected, or does not read, before it got the answer: nobody would use it. */
export function endIfUnsent(
  { network }: Pick<ControlContext, 'network'>,
  { circuit }: NewCircuit,
  isSent: boolean,
): void {
  if (!isSent) network.circuits.remove(circuit.id, { now: true });
}

/** Fields that the protobuf answers to SDK clients of older routers and to tunnelers have in common. */
export function responseFields({ circuit, peerData }: NewCircuit) {
  return {
    circuitId: circuit.id,
    address: circuit.ingress,
    peerData: peerDataEntries(peerData),
    tags: circuit.tags,
  };
}
