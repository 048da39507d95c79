// Decodes messages for traces: the headers and bodies that the network defines, as JSON. Omits values that could be
// secret: tokens, keys, certificates, instance secrets, peer data, data of configurations, and all payload.

import { type Message as ProtoMessage, toJson } from '@bufbuild/protobuf';
import type { GenMessage } from '@bufbuild/protobuf/codegenv2';
import { decodeBody } from '#wire/decode-body.ts';
import type { Frame } from '#wire/frame.ts';
import {
  CircuitConfirmationSchema,
  CircuitRequestSchema,
  FaultSchema,
  InspectRequestSchema,
  LinkStateUpdateSchema,
  PeerStateChangesSchema,
  RemoveTerminatorsRequestSchema,
  RouterLinksSchema,
  RouteSchema,
  UnrouteSchema,
  UpdateClusterLeaderSchema,
  UpdateCtrlAddressesSchema,
  ValidateTerminatorsV2RequestSchema,
  ValidateTerminatorsV2ResponseSchema,
  VerifyRouterSchema,
} from '#wire/gen/control_pb.js';
import { PostureStateChangeSchema, ServiceChangeSetSchema } from '#wire/gen/edge_client_pb.js';
import {
  ApiSessionAddedSchema,
  ApiSessionRemovedSchema,
  ClientHelloSchema,
  ConnectEventsSchema,
  CreateTerminatorV2RequestSchema,
  CreateTerminatorV2ResponseSchema,
  CreateTunnelCircuitV2RequestSchema,
  CreateTunnelCircuitV2ResponseSchema,
  CreateTunnelTerminatorRequestV2Schema,
  CreateTunnelTerminatorResponseV2Schema,
  DataState_ChangeSetSchema,
  DataStateSchema,
  HealthEventRequestSchema,
  ServerHelloSchema,
  SessionRemovedSchema,
  SubscribeToDataModelRequestSchema,
  UpdateTerminatorRequestSchema,
  UpdateTunnelTerminatorRequestSchema,
} from '#wire/gen/edge_control_pb.js';
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
} from '#wire/gen/numbers.ts';
import { decodeUint64 } from '#wire/header-values.ts';

type Schema = GenMessage<ProtoMessage>;
type HeaderType = 'text' | 'number' | 'bool';
type Headers = readonly (readonly [key: number, name: string, type: HeaderType])[];

/** Characters of a string; reasons and ids are shorter. */
const MAX_TEXT_LENGTH = 1_024;
/** Bytes of a body that is decoded; a data model or metrics report may be far larger and would hide the rest. */
const MAX_BODY_BYTES = 64 * 1024;
/** Values in the JSON for a controller. */
const MAX_PARTS = 100;
const SECRET = /token|secret|password|key$|jwt|pem|csr|cert|peerdata|^data$|datajson|instanceid/i;
const HIDDEN = '…';

const BODIES: ReadonlyMap<number, Schema | 'text'> = new Map<number, Schema | 'text'>([
  [ChannelType.Result, 'text'],
  [ControlType.CircuitRequest, CircuitRequestSchema],
  [ControlType.CircuitSuccess, 'text'],
  [ControlType.CircuitFailed, 'text'],
  [ControlType.Fault, FaultSchema],
  [ControlType.Route, RouteSchema],
  [ControlType.Unroute, UnrouteSchema],
  [ControlType.InspectRequest, InspectRequestSchema],
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
  [ControlType.LinkState, LinkStateUpdateSchema],
  [EdgeControlType.ServerHello, ServerHelloSchema],
  [EdgeControlType.ClientHello, ClientHelloSchema],
  [EdgeControlType.Error, 'text'],
  [EdgeControlType.SessionRemoved, SessionRemovedSchema],
  [EdgeControlType.ApiSessionAdded, ApiSessionAddedSchema],
  [EdgeControlType.ApiSessionRemoved, ApiSessionRemovedSchema],
  [EdgeControlType.UpdateTerminator, UpdateTerminatorRequestSchema],
  [EdgeControlType.HealthEvent, HealthEventRequestSchema],
  [EdgeControlType.CreateTerminatorV2, CreateTerminatorV2RequestSchema],
  [EdgeControlType.CreateTerminatorV2Response, CreateTerminatorV2ResponseSchema],
  [EdgeControlType.CreateTunnelCircuitV2, CreateTunnelCircuitV2RequestSchema],
  [EdgeControlType.CreateTunnelCircuitV2Response, CreateTunnelCircuitV2ResponseSchema],
  [EdgeControlType.UpdateTunnelTerminator, UpdateTunnelTerminatorRequestSchema],
  [EdgeControlType.CreateTunnelTerminatorV2, CreateTunnelTerminatorRequestV2Schema],
  [EdgeControlType.CreateTunnelTerminatorV2Response, CreateTunnelTerminatorResponseV2Schema],
  [EdgeControlType.ConnectEvents, ConnectEventsSchema],
  [EdgeControlType.DataState, DataStateSchema],
  [EdgeControlType.DataStateChangeSet, DataState_ChangeSetSchema],
  [EdgeControlType.SubscribeToDataModel, SubscribeToDataModelRequestSchema],
  [SdkType.StateClosed, 'text'],
  [SdkType.DialFailed, 'text'],
  [SdkType.ServiceChangeSet, ServiceChangeSetSchema],
  [SdkType.PostureStateChange, PostureStateChangeSchema],
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
const EDGE_ERROR: Headers = [
  [EdgeControlHeader.ErrorCode, 'errorCode', 'number'],
  [EdgeControlHeader.RetryHint, 'retryHint', 'number'],
];

const HEADERS: ReadonlyMap<number, Headers> = new Map<number, Headers>([
  [ChannelType.Result, RESULT],
  [ControlType.RouteResult, ROUTE_RESULT],
  [ControlType.CircuitSuccess, [[RouteHeader.IngressAddress, 'address', 'text']]],
  [EdgeControlType.Error, EDGE_ERROR],
  [EdgeControlType.CreateCircuitV2, CIRCUIT_REQUEST],
  [EdgeControlType.CreateCircuitV3, CIRCUIT_REQUEST],
  [EdgeControlType.CreateCircuitV2Response, CIRCUIT_ANSWER],
  [EdgeControlType.CreateCircuitV3Response, CIRCUIT_ANSWER],
  ...Object.values(XgressType).map((type) => [type, XGRESS] as const),
  ...Object.values(SdkType).map((type) => [type, SDK] as const),
]);

interface MessageName {
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

/** The name of a content type. */
export function nameOfType(contentType: number): string {
  return NAMES.get(contentType)?.name ?? 'unknown';
}

/**
 * A message as JSON for a controller: its name and all known parts, at one level, because the reference prints only
 * texts, numbers and booleans. Empty for an unknown content type.
 */
export function decodeForController(frame: Frame): Buffer {
  const known = NAMES.get(frame.contentType);
  if (!known) return Buffer.alloc(0);
  const { body, ...headers } = decodeMessage(frame);
  const parts: Record<string, unknown> = { __decoder__: known.decoder, __message__: known.name, ...headers };
  flatten(body, typeof body === 'object' ? '' : 'body', parts);
  return Buffer.from(JSON.stringify(parts));
}

/** Adds the values within `value` under their paths, such as `egress.address`. */
function flatten(value: unknown, path: string, into: Record<string, unknown>): void {
  if (value === undefined || Object.keys(into).length >= MAX_PARTS) return;
  if (typeof value !== 'object' || value === null) into[path] = value;
  else for (const [key, each] of Object.entries(value)) flatten(each, path ? `${path}.${key}` : key, into);
}

/** All known parts of a message. An undecodable body is marked as such. */
export function decodeMessage(frame: Frame): Record<string, unknown> {
  const decoded: Record<string, unknown> = {};
  for (const [key, name, type] of HEADERS.get(frame.contentType) ?? []) {
    const value = frame.header(key);
    if (value) decoded[name] = decodeHeader(value, type);
  }
  const body = BODIES.get(frame.contentType);
  if (body === undefined || frame.body.length === 0) return decoded;
  if (frame.body.length > MAX_BODY_BYTES) return { ...decoded, body: 'too large' };
  return { ...decoded, body: body === 'text' ? shorten(frame.body.toString('utf8')) : jsonOfBody(frame, body) };
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
