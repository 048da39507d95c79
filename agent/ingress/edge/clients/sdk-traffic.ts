// The frames of an SDK client's connections: finds the end that a frame belongs to, and passes the frame on. A client
// reaches only its own ends (reference fact: edge, sections 5.3, 5.4 and 9.3).

import type { Frame } from '#wire/frame.ts';
import {
  ControlMessageType,
  EdgeErrorCode,
  PayloadFlag,
  SdkHeader,
  SdkType,
  XgressHeader,
  XgressType,
} from '#wire/gen/numbers.ts';
import { decodeUint32 } from '#wire/header-values.ts';
import type { Message } from '#wire/message.ts';
import { circuitIdOf, MAX_CIRCUIT_ID } from '#wire/xgress-frames.ts';
import type { CircuitRole } from '../../../xgress/xgress-metrics.ts';
import type { ClientEnd } from '../ends/client-end.ts';
import type { SdkRelay } from '../ends/sdk-relay.ts';
import type { SdkConnection } from './sdk-connection.ts';
import { payloadHeaders } from './sdk-messages.ts';
import { answerFromClient, answerToClient, questionFromClient } from './sdk-trace.ts';

const UUID_HEADER = 128;
const UUID_LENGTH = 16;

/**
 * Sets the handlers for data, circuit frames, traces and closes. `onForeign` is called for circuits of other clients.
 */
export function serveTraffic(connection: SdkConnection, onForeign: () => void): void {
  const { channel } = connection;
  /** Finds only circuits of this client: frames that name other circuits are dropped without affecting them. */
  const relayOf = (frame: Frame): SdkRelay | undefined => {
    const circuitId = circuitIdOf(frame) ?? frame.body.toString('utf8', 1, 1 + MAX_CIRCUIT_ID);
    const relay = senderOf(frame, connection.relaysOf(circuitId));
    if (!relay) onForeign();
    return relay;
  };
  channel.on(SdkType.StateClosed, (message) => connection.onEndClosed(connectionIdOf(message)));
  channel.on(SdkType.TraceRoute, (question) => onTraceRoute(connection, question));
  channel.on(SdkType.TraceRouteResponse, (answer) => endOf(connection, answer)?.onTrace?.(answerFromClient(answer)));
  channel.onFrame(SdkType.Data, (frame) => onData(connection, frame));
  channel.onFrame(XgressType.Payload, (frame) => {
    const relay = relayOf(frame);
    if (relay) relay.onPayload(frame);
    else if (isCircuitEnd(frame)) connection.closingEnds.ended(connectionIdIn(frame) ?? -1);
  });
  channel.onFrame(XgressType.Acknowledgement, (frame) => relayOf(frame)?.onAcknowledgement(frame));
  channel.onFrame(XgressType.Control, (frame) => relayOf(frame)?.onControl(frame));
  channel.on(XgressType.Close, (message) => onCircuitClosed(connection, message.body.toString()));
}

function endOf(connection: SdkConnection, message: Message): ClientEnd | undefined {
  return connection.end(connectionIdOf(message));
}

/**
 * The message does not tell which end the client closed, but the end sent its last payload before. Else a client that
 * has both ends is notified about both.
 */
function onCircuitClosed(connection: SdkConnection, circuitId: string): void {
  const relays = connection.relaysOf(circuitId);
  const ended = relays.find(({ hasEnded }) => hasEnded);
  if (connection.closingEnds.closed(circuitId, ended !== undefined)) return;
  const [relay, other] = relays;
  const closed = ended ?? (other ? undefined : relay);
  if (closed) closed.onClosed();
  else relay?.cut('circuit closed', { code: EdgeErrorCode.Internal });
}

/** The last payload of a connection. The client then closes the circuit, by its id. */
function isCircuitEnd(frame: Frame): boolean {
  return ((decodeUint32(frame.header(XgressHeader.Flags)) ?? 0) & PayloadFlag.CircuitEnd) !== 0;
}

/**
 * The end that sent a frame; undefined for an end that is over for the router. Clients may omit the connection
 * id; then only the role tells both ends of a circuit apart.
 */
function senderOf(frame: Frame, relays: readonly SdkRelay[]): SdkRelay | undefined {
  const id = connectionIdIn(frame);
  if (id !== undefined) return relays.find(({ connectionId }) => connectionId === id);
  return relays.length > 1 ? relays.find(({ role }) => role === roleOf(frame)) : relays[0];
}

/** Control frames have no flags. */
function roleOf(frame: Frame): CircuitRole {
  if (frame.contentType === XgressType.Control)
    return frame.body[0] === ControlMessageType.TraceRouteResponse ? 'terminator' : 'initiator';
  const flags = frame.header(XgressHeader.Flags);
  return flags?.length === 4 && (flags.readUInt32LE() & PayloadFlag.Originator) !== 0 ? 'terminator' : 'initiator';
}

function connectionIdIn(frame: Frame): number | undefined {
  return decodeUint32(frame.header(SdkHeader.ConnectionId));
}

/** -1 if it is missing. */
function connectionIdOf(message: Message): number {
  return message.uint32(SdkHeader.ConnectionId) ?? -1;
}

function onTraceRoute(connection: SdkConnection, question: Message): void {
  const trace = questionFromClient(question);
  if (trace) endOf(connection, question)?.onTrace?.(trace);
  else connection.reply(question, answerToClient(question));
}

function onData(connection: SdkConnection, frame: Frame): void {
  const id = connectionIdIn(frame);
  const end = id === undefined ? undefined : connection.end(id);
  if (!end?.onData) return;
  const uuid = frame.header(UUID_HEADER);
  const flags = frame.header(SdkHeader.Flags);
  end.onData(
    frame.body,
    payloadHeaders(uuid?.length === UUID_LENGTH ? uuid : undefined, flags?.length === 4 ? flags : undefined),
  );
}
