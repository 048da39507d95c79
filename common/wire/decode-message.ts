// Decodes messages for people, in traces and in the journal of the simulator: the headers and bodies that the network
// defines, as JSON. Omits values that could be secret: tokens, keys, certificates, instance secrets, peer data, data of
// configurations, and all payload.

import { type Message as ProtoMessage, toJson } from '@bufbuild/protobuf';
import type { GenMessage } from '@bufbuild/protobuf/codegenv2';
import { decodeBody } from './decode-body.ts';
import type { Frame } from './frame.ts';
import {
  AlertsSchema,
  CircuitConfirmationSchema,
  CircuitRequestSchema,
  CreateTerminatorRequestSchema,
  FaultSchema,
  InspectRequestSchema,
  LinkStateUpdateSchema,
  ListenersSchema,
  PeerStateChangesSchema,
  RemoveTerminatorRequestSchema,
  RemoveTerminatorsRequestSchema,
  RouterInterfacesUpdateSchema,
  RouterLinksSchema,
  RouteSchema,
  UnrouteSchema,
  UpdateClusterLeaderSchema,
  UpdateCtrlAddressesSchema,
  UpdateTerminatorRequestSchema,
  ValidateTerminatorsRequestSchema,
  ValidateTerminatorsV2RequestSchema,
  ValidateTerminatorsV2ResponseSchema,
  VerifyRouterSchema,
} from './gen/control_pb.js';
import {
  ApiSessionAddedSchema,
  ApiSessionHeartbeatSchema,
  ApiSessionRemovedSchema,
  ApiSessionUpdatedSchema,
  ClientHelloSchema,
  ConnectEventsSchema,
  CreateApiSessionRequestSchema,
  CreateApiSessionResponseSchema,
  CreateCircuitForServiceRequestSchema,
  CreateCircuitForServiceResponseSchema,
  CreateCircuitRequestSchema,
  CreateCircuitResponseSchema,
  CreateTerminatorV2RequestSchema,
  CreateTerminatorV2ResponseSchema,
  CreateTunnelCircuitV2RequestSchema,
  CreateTunnelCircuitV2ResponseSchema,
  CreateTunnelTerminatorRequestSchema,
  CreateTunnelTerminatorRequestV2Schema,
  CreateTunnelTerminatorResponseSchema,
  CreateTunnelTerminatorResponseV2Schema,
  DataState_ChangeSetSchema,
  DataStateSchema,
  EnrollmentCertsResponseSchema,
  EnrollmentExtendRouterRequestSchema,
  EnrollmentExtendRouterVerifyRequestSchema,
  HealthEventRequestSchema,
  RemoveTerminatorRequestSchema as RemoveEdgeTerminatorSchema,
  RequestClientReSyncSchema,
  RouterDataModelValidateResponseSchema,
  ServerHelloSchema,
  SessionRemovedSchema,
  SubscribeToDataModelRequestSchema,
  UpdateTerminatorRequestSchema as UpdateEdgeTerminatorSchema,
  UpdateTunnelTerminatorRequestSchema,
  ValidateSessionsRequestSchema,
} from './gen/edge_control_pb.js';
import {
  ChannelHeader,
  ChannelType,
  ControlType,
  EdgeControlHeader,
  EdgeControlType,
  ResultHeader,
  RouteHeader,
  SdkHeader,
  SdkType,
  XgressHeader,
  XgressType,
} from './gen/numbers.ts';
import { decodeUint64 } from './header-values.ts';

type Schema = GenMessage<ProtoMessage>;
/** The form of a body: a protobuf message, text, or a list of sequence numbers. */
export type BodyForm = Schema | 'text' | 'sequences';
/** Further bodies, whose schemas not every program loads, by content type. */
export type BodyForms = ReadonlyMap<number, BodyForm>;
type HeaderType = 'text' | 'number' | 'bool';
type Headers = readonly (readonly [key: number, name: string, type: HeaderType])[];

/** Characters of a string; reasons and ids are shorter. */
const MAX_TEXT_LENGTH = 1_024;
/** Bytes of a body that is decoded; a data model or metrics report may be far larger and would hide the rest. */
const MAX_BODY_BYTES = 64 * 1024;
/** Sequence numbers of an acknowledgement. */
const MAX_SEQUENCES = 100;
const SECRET = /token|secret|password|key$|jwt|pem|csr|cert|peerdata|^data$|bytedata|datajson|instanceid/i;
const HIDDEN = '…';

const BODIES: BodyForms = new Map<number, BodyForm>([
  [ChannelType.Result, 'text'],
  [ControlType.CircuitRequest, CircuitRequestSchema],
  [ControlType.CircuitSuccess, 'text'],
  [ControlType.CircuitFailed, 'text'],
  [ControlType.Fault, FaultSchema],
  [ControlType.Route, RouteSchema],
  [ControlType.Unroute, UnrouteSchema],
  [ControlType.CreateTerminator, CreateTerminatorRequestSchema],
  [ControlType.RemoveTerminator, RemoveTerminatorRequestSchema],
  [ControlType.InspectRequest, InspectRequestSchema],
  [ControlType.ValidateTerminators, ValidateTerminatorsRequestSchema],
  [ControlType.UpdateTerminator, UpdateTerminatorRequestSchema],
  [ControlType.RouteResult, 'text'],
  [ControlType.CircuitConfirmation, CircuitConfirmationSchema],
  [ControlType.RouterLinks, RouterLinksSchema],
  [ControlType.VerifyRouter, VerifyRouterSchema],
  [ControlType.UpdateCtrlAddresses, UpdateCtrlAddressesSchema],
  [ControlType.RemoveTerminators, RemoveTerminatorsRequestSchema],
  [ControlType.ValidateTerminatorsV2, ValidateTerminatorsV2RequestSchema],
  [ControlType.ValidateTerminatorsV2Response, ValidateTerminatorsV2ResponseSchema],
  [ControlType.PeerStateChanges, PeerStateChangesSchema],
  [ControlType.UpdateClusterLeader, UpdateClusterLeaderSchema],
  [ControlType.UpdateRouterInterfaces, RouterInterfacesUpdateSchema],
  [ControlType.LinkState, LinkStateUpdateSchema],
  [ControlType.Alerts, AlertsSchema],
  [ControlType.UpdateLinkListeners, ListenersSchema],
  [EdgeControlType.ServerHello, ServerHelloSchema],
  [EdgeControlType.ClientHello, ClientHelloSchema],
  [EdgeControlType.Error, 'text'],
  [EdgeControlType.SessionRemoved, SessionRemovedSchema],
  [EdgeControlType.ApiSessionAdded, ApiSessionAddedSchema],
  [EdgeControlType.ApiSessionUpdated, ApiSessionUpdatedSchema],
  [EdgeControlType.ApiSessionRemoved, ApiSessionRemovedSchema],
  [EdgeControlType.ApiSessionHeartbeat, ApiSessionHeartbeatSchema],
  [EdgeControlType.RequestClientReSync, RequestClientReSyncSchema],
  [EdgeControlType.CreateCircuit, CreateCircuitRequestSchema],
  [EdgeControlType.CreateCircuitResponse, CreateCircuitResponseSchema],
  [EdgeControlType.UpdateTerminator, UpdateEdgeTerminatorSchema],
  [EdgeControlType.RemoveTerminator, RemoveEdgeTerminatorSchema],
  [EdgeControlType.ValidateSessions, ValidateSessionsRequestSchema],
  [EdgeControlType.HealthEvent, HealthEventRequestSchema],
  [EdgeControlType.CreateTerminatorV2, CreateTerminatorV2RequestSchema],
  [EdgeControlType.CreateTerminatorV2Response, CreateTerminatorV2ResponseSchema],
  [EdgeControlType.EnrollmentExtendRouter, EnrollmentExtendRouterRequestSchema],
  [EdgeControlType.EnrollmentExtendRouterVerify, EnrollmentExtendRouterVerifyRequestSchema],
  [EdgeControlType.EnrollmentCertsResponse, EnrollmentCertsResponseSchema],
  [EdgeControlType.CreateApiSession, CreateApiSessionRequestSchema],
  [EdgeControlType.CreateApiSessionResponse, CreateApiSessionResponseSchema],
  [EdgeControlType.CreateCircuitForService, CreateCircuitForServiceRequestSchema],
  [EdgeControlType.CreateCircuitForServiceResponse, CreateCircuitForServiceResponseSchema],
  [EdgeControlType.CreateTunnelCircuitV2, CreateTunnelCircuitV2RequestSchema],
  [EdgeControlType.CreateTunnelCircuitV2Response, CreateTunnelCircuitV2ResponseSchema],
  [EdgeControlType.CreateTunnelTerminator, CreateTunnelTerminatorRequestSchema],
  [EdgeControlType.CreateTunnelTerminatorResponse, CreateTunnelTerminatorResponseSchema],
  [EdgeControlType.UpdateTunnelTerminator, UpdateTunnelTerminatorRequestSchema],
  [EdgeControlType.RemoveTunnelTerminator, 'text'],
  [EdgeControlType.CreateTunnelTerminatorV2, CreateTunnelTerminatorRequestV2Schema],
  [EdgeControlType.CreateTunnelTerminatorV2Response, CreateTunnelTerminatorResponseV2Schema],
  [EdgeControlType.ConnectEvents, ConnectEventsSchema],
  [EdgeControlType.DataState, DataStateSchema],
  [EdgeControlType.DataStateChangeSet, DataState_ChangeSetSchema],
  [EdgeControlType.ValidateDataStateResponse, RouterDataModelValidateResponseSchema],
  [EdgeControlType.SubscribeToDataModel, SubscribeToDataModelRequestSchema],
  [XgressType.Acknowledgement, 'sequences'],
  [SdkType.StateClosed, 'text'],
  [SdkType.DialFailed, 'text'],
]);

const XGRESS: Headers = [
  [XgressHeader.CircuitId, 'circuitId', 'text'],
  [XgressHeader.Sequence, 'circuitSequence', 'number'],
  [XgressHeader.Flags, 'flags', 'number'],
  [XgressHeader.ReceiveBufferSize, 'receiveBufferSize', 'number'],
  [XgressHeader.HopCount, 'hopCount', 'number'],
  [XgressHeader.HopType, 'hopType', 'text'],
  [XgressHeader.HopId, 'hopId', 'text'],
];
const SDK: Headers = [
  [SdkHeader.ConnectionId, 'connectionId', 'number'],
  [SdkHeader.Flags, 'flags', 'number'],
  [SdkHeader.Cost, 'cost', 'number'],
  [SdkHeader.Precedence, 'precedence', 'number'],
  [SdkHeader.ListenerId, 'listenerId', 'text'],
  [SdkHeader.ErrorCode, 'errorCode', 'number'],
  [SdkHeader.CircuitId, 'circuitId', 'text'],
  [SdkHeader.ServiceIdentifier, 'service', 'text'],
  [SdkHeader.UseXgressToSdk, 'useXgressToSdk', 'bool'],
  [SdkHeader.DialerIdentityId, 'dialerIdentityId', 'text'],
];
const ROUTE_RESULT: Headers = [
  [RouteHeader.Attempt, 'attempt', 'number'],
  [RouteHeader.Success, 'success', 'bool'],
  [RouteHeader.Error, 'error', 'text'],
  [RouteHeader.ErrorCode, 'errorCode', 'number'],
];
const CIRCUIT_REQUEST: Headers = [
  [EdgeControlHeader.IdentityId, 'identityId', 'text'],
  [EdgeControlHeader.ServiceId, 'serviceId', 'text'],
];
/** In answers, two keys have another meaning than in requests. */
const CIRCUIT_ANSWER: Headers = [
  [EdgeControlHeader.SessionToken, 'circuitId', 'text'],
  [EdgeControlHeader.Fingerprints, 'address', 'text'],
];
const RESULT: Headers = [
  [ChannelHeader.ResultSuccess, 'success', 'bool'],
  [ResultHeader.ErrorCode, 'errorCode', 'number'],
];
/** The index of the data model. */
const MODEL_INDEX: Headers = [[EdgeControlHeader.RouterDataModelIndex, 'index', 'number']];
const EDGE_ERROR: Headers = [
  [EdgeControlHeader.ErrorCode, 'errorCode', 'number'],
  [EdgeControlHeader.RetryHint, 'retryHint', 'number'],
];

const HEADERS: ReadonlyMap<number, Headers> = new Map<number, Headers>([
  [ChannelType.Result, RESULT],
  [ControlType.RouteResult, ROUTE_RESULT],
  [ControlType.CircuitSuccess, [[RouteHeader.IngressAddress, 'address', 'text']]],
  [EdgeControlType.Error, EDGE_ERROR],
  [EdgeControlType.CurrentIndex, MODEL_INDEX],
  [EdgeControlType.CreateCircuitV2, CIRCUIT_REQUEST],
  [EdgeControlType.CreateCircuitV3, CIRCUIT_REQUEST],
  [EdgeControlType.CreateCircuitV2Response, CIRCUIT_ANSWER],
  [EdgeControlType.CreateCircuitV3Response, CIRCUIT_ANSWER],
  ...Object.values(XgressType).map((type) => [type, XGRESS] as const),
  ...Object.values(SdkType).map((type) => [type, SDK] as const),
]);

export interface MessageName {
  /** The part of the network that defines the message, as the reference's traces name it. */
  readonly decoder: string;
  readonly name: string;
}

const NAMES: ReadonlyMap<number, MessageName> = new Map(
  Object.entries({
    channel: ChannelType,
    data: XgressType,
    ctrl: ControlType,
    edge_ctrl: EdgeControlType,
    edge: SdkType,
  }).flatMap(([decoder, table]) => Object.entries(table).map(([name, number]) => [number, { decoder, name }] as const)),
);

/** Undefined for an unknown content type. */
export function messageName(contentType: number): MessageName | undefined {
  return NAMES.get(contentType);
}

/** The name of a content type. */
export function nameOfType(contentType: number): string {
  return NAMES.get(contentType)?.name ?? 'unknown';
}

/** Whether `decodeMessage` shows parts of messages of this type. */
export function isDecoded(contentType: number): boolean {
  return BODIES.has(contentType) || HEADERS.has(contentType);
}

/** All known parts of a message. An undecodable body is marked as such. */
export function decodeMessage(frame: Frame, others?: BodyForms): Record<string, unknown> {
  const decoded: Record<string, unknown> = {};
  for (const [key, name, type] of HEADERS.get(frame.contentType) ?? []) {
    const value = frame.header(key);
    if (value) decoded[name] = decodeHeader(value, type);
  }
  const body = BODIES.get(frame.contentType) ?? others?.get(frame.contentType);
  if (body === undefined || frame.body.length === 0) return decoded;
  if (frame.body.length > MAX_BODY_BYTES) return { ...decoded, body: 'too large' };
  return { ...decoded, body: bodyOf(frame, body) };
}

function bodyOf(frame: Frame, form: BodyForm): unknown {
  if (form === 'text') return shorten(frame.body.toString('utf8'));
  return form === 'sequences' ? sequencesOf(frame.body) : jsonOfBody(frame, form);
}

/** They are the only big endian part of the protocol. */
function sequencesOf(body: Buffer): number[] {
  const count = Math.min(MAX_SEQUENCES, Math.floor(body.length / 4));
  return Array.from({ length: count }, (_, index) => body.readInt32BE(4 * index));
}

function jsonOfBody(frame: Frame, schema: Schema): unknown {
  try {
    return hideSecrets(toJson(schema, decodeBody(schema, frame.body)));
  } catch {
    return 'cannot be decoded'; // the peer may send anything, and a trace includes it
  }
}

function decodeHeader(value: Buffer, type: HeaderType): unknown {
  if (type === 'text') return shorten(value.toString('utf8'));
  if (type === 'bool') return value[0] === 1;
  if (value.length === 8) return Number(decodeUint64(value));
  return value.length === 0 || value.length > 6 ? undefined : value.readUIntLE(0, value.length);
}

function hideSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(hideSecrets);
  if (typeof value === 'string') return shorten(value);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, SECRET.test(key) ? HIDDEN : hideSecrets(each)]),
  );
}

function shorten(text: string): string {
  return text.length > MAX_TEXT_LENGTH ? `${text.slice(0, MAX_TEXT_LENGTH)}${HIDDEN}` : text;
}
