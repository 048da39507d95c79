// Requests for circuits: of clients with a session token (V1 of older routers, V2), of clients with an API session alone (V3), of the router's own tunneler,
// and of listeners that know no identity at all (reference fact: control channel, section 4.4).

import { create, toBinary } from '@bufbuild/protobuf';
import { describeError } from '#lib/errors.ts';
import { HIGH_LANE } from '#wire/control-lanes.ts';
import { CircuitRequestSchema } from '#wire/gen/control_pb.js';
import {
  CreateCircuitRequestSchema,
  CreateCircuitResponseSchema,
  CreateTunnelCircuitV2RequestSchema,
  CreateTunnelCircuitV2ResponseSchema,
} from '#wire/gen/edge_control_pb.js';
import { ControlType, EdgeControlHeader, EdgeControlType } from '#wire/gen/numbers.ts';
import { decodeBytesMap, encodeBytesMap, encodeStringMap } from '#wire/header-values.ts';
import { Message } from '#wire/message.ts';
import { peerDataFrom } from '#wire/peer-data.ts';
import type { MadeCircuit } from '../../network/circuits.ts';
import type { ConnectedRouter } from '../../network/connected-router.ts';
import type { ControlContext, ControlHandler } from '../context.ts';
import { edgeErrorMessage } from './edge-error.ts';
import { type CheckedSession, checkApiSession, checkServiceSession, checkTunneler } from './session-check.ts';

/** Header of a positive answer to a listener's request: the ingress address. */
const INGRESS_ADDRESS = 1100;

export const onCreateCircuit: ControlHandler = async (context, router, message) => {
  try {
    const request = message.decode(CreateCircuitRequestSchema);
    const tokens = { session: request.sessionToken, apiSession: request.apiSessionToken };
    const { identity, service } = await checkServiceSession(context, router.id, tokens, 'Dial');
    const made = await context.network.circuits.create({
      service,
      clientId: identity.id,
      ingressRouter: router.id,
      instanceId: request.terminatorInstanceId,
      peerData: peerDataFrom(request.peerData),
      circuitId: '',
    });
    const response = create(CreateCircuitResponseSchema, responseFields(made));
    const body = toBinary(CreateCircuitResponseSchema, response);
    router.channel.reply(message, new Message(EdgeControlType.CreateCircuitResponse, [], body));
  } catch (error) {
    router.channel.reply(message, edgeErrorMessage(error));
  }
};

export const onCreateCircuitV2: ControlHandler = async (context, router, message) => {
  await answer(router, message, EdgeControlType.CreateCircuitV2Response, async () => {
    const tokens = {
      session: message.string(EdgeControlHeader.SessionToken),
      apiSession: message.string(EdgeControlHeader.ApiSessionToken),
    };
    const checked = await checkServiceSession(context, router.id, tokens, 'Dial');
    return circuitOf(context, router, message, checked, '');
  });
};

export const onCreateCircuitV3: ControlHandler = async (context, router, message) => {
  await answer(router, message, EdgeControlType.CreateCircuitV3Response, async () => {
    const checked = await checkApiSession(context, router.id, {
      apiSession: message.string(EdgeControlHeader.ApiSessionToken),
      identityId: message.string(EdgeControlHeader.IdentityId) ?? '',
      serviceId: message.string(EdgeControlHeader.ServiceId) ?? '',
    });
    return circuitOf(context, router, message, checked, message.string(EdgeControlHeader.CircuitId) ?? '');
  });
};

export const onCreateTunnelCircuit: ControlHandler = async (context, router, message) => {
  try {
    const request = message.decode(CreateTunnelCircuitV2RequestSchema);
    const { identity, service } = checkTunneler(
      context,
      router.id,
      context.state.tables.service.findBy('name', request.serviceName),
      'Dial',
    );
    const made = await context.network.circuits.create({
      service,
      clientId: identity.id,
      ingressRouter: router.id,
      instanceId: request.terminatorInstanceId,
      peerData: peerDataFrom(request.peerData),
      circuitId: '',
    });
    const response = create(CreateTunnelCircuitV2ResponseSchema, responseFields(made));
    const body = toBinary(CreateTunnelCircuitV2ResponseSchema, response);
    router.channel.reply(message, new Message(EdgeControlType.CreateTunnelCircuitV2Response, [], body));
  } catch (error) {
    router.channel.reply(message, edgeErrorMessage(error));
  }
};

/** The service is named by id or name, with an instance before it: `instance@service`. */
export const onCircuitRequest: ControlHandler = async (context, router, message) => {
  try {
    const request = message.decode(CircuitRequestSchema);
    const [name = '', instanceId = ''] = request.service.split('@').reverse();
    const { service: services } = context.state.tables;
    const service = services.get(name) ?? services.findBy('name', name);
    if (!service) throw new Error(`there is no service ${name}`);
    const { circuit, peerData } = await context.network.circuits.create({
      service,
      clientId: request.ingressId,
      ingressRouter: router.id,
      instanceId,
      peerData: peerDataFrom(request.peerData),
      circuitId: '',
    });
    const headers: (readonly [number, Buffer | string])[] = [[INGRESS_ADDRESS, circuit.ingress], ...peerData];
    router.channel.reply(message, new Message(ControlType.CircuitSuccess, headers, circuit.id), HIGH_LANE);
  } catch (error) {
    router.channel.reply(message, new Message(ControlType.CircuitFailed, [], describeError(error)), HIGH_LANE);
  }
};

function circuitOf(
  context: ControlContext,
  router: ConnectedRouter,
  message: Message,
  { identity, service }: CheckedSession,
  circuitId: string,
): Promise<MadeCircuit> {
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
  router: ConnectedRouter,
  message: Message,
  type: number,
  make: () => Promise<MadeCircuit>,
): Promise<void> {
  try {
    const { circuit, peerData } = await make();
    const headers = [
      [EdgeControlHeader.SessionToken, circuit.id],
      [EdgeControlHeader.Fingerprints, circuit.ingress],
      [EdgeControlHeader.PeerData, encodeBytesMap(peerData)],
      [EdgeControlHeader.TerminatorInstanceId, encodeStringMap(circuit.tags)],
    ] as const;
    router.channel.reply(message, new Message(type, headers));
  } catch (error) {
    router.channel.reply(message, edgeErrorMessage(error));
  }
}

/** The fields that the two protobuf answers, to SDK clients of older routers and to tunnelers, have in common. */
function responseFields({ circuit, peerData }: MadeCircuit) {
  return {
    circuitId: circuit.id,
    address: circuit.ingress,
    peerData: Object.fromEntries(peerData),
    tags: circuit.tags,
  };
}
