// Trace route of SDK clients: translates requests and answers between the messages of a connection and the control
// frames of its circuit (reference fact: edge, section 9.3).

import type { Frame } from '#wire/frame.ts';
import { ChannelHeader, ControlMessageType, SdkHeader, SdkType, XgressHeader } from '#wire/gen/numbers.ts';
import { encodeInt32, encodeUint32 } from '#wire/header-values.ts';
import { type HeaderEntries, Message } from '#wire/message.ts';

/** Name of the SDK listener in trace route answers. */
export const SDK_HOP = 'xgress/edge';

/** Header keys with the same value in a connection's messages and in its circuit's frames. */
const COMMON = [
  [SdkHeader.TraceHopCount, XgressHeader.HopCount],
  [SdkHeader.TraceTimestamp, XgressHeader.Timestamp],
  [SdkHeader.TraceHopType, XgressHeader.HopType],
  [SdkHeader.TraceHopId, XgressHeader.HopId],
  [SdkHeader.TraceError, XgressHeader.Error],
] as const;

/** A trace message of a client: a request for its circuit, or its answer to one. */
export interface SdkTrace {
  readonly type: ControlMessageType;
  readonly headers: HeaderEntries;
}

/** Translates a client's request for its circuit; undefined if its hops end at this router. */
export function questionFromClient(question: Message): SdkTrace | undefined {
  const hops = hopsAfterThis(question);
  if (hops === 0) return undefined;
  const headers = [...toCircuit(question)].filter(([key]) => key !== XgressHeader.HopCount);
  return {
    type: ControlMessageType.TraceRoute,
    headers: [
      ...headers,
      [XgressHeader.HopCount, encodeUint32(hops)],
      [XgressHeader.UserValue, encodeInt32(question.sequence)],
    ],
  };
}

/** This router's answer to a client whose hops are used up. */
export function answerToClient(question: Message): Message {
  const kept = [SdkHeader.ConnectionId, SdkHeader.TraceTimestamp].flatMap((key) => {
    const value = question.headers.get(key);
    return value ? [[key, value] as const] : [];
  });
  return new Message(SdkType.TraceRouteResponse, [
    ...kept,
    [SdkHeader.TraceHopCount, encodeUint32(hopsAfterThis(question))],
    [SdkHeader.TraceHopType, SDK_HOP],
    [SdkHeader.TraceHopId, ''],
  ]);
}

/** Translates a hosting client's answer for its circuit. */
export function answerFromClient(answer: Message): SdkTrace {
  const asked = answer.headers.get(SdkHeader.TraceSourceRequestId);
  const headers = [...toCircuit(answer), ...(asked ? [[XgressHeader.UserValue, asked] as const] : [])];
  return { type: ControlMessageType.TraceRouteResponse, headers };
}

/**
 * Translates a control frame of a circuit for its client; undefined for frames that clients do not handle: requests
 * whose hops end here, and requests of routers.
 */
export function traceToClient(connectionId: number, frame: Frame): Message | undefined {
  const message = Message.fromFrame(frame);
  const asked = message.headers.get(XgressHeader.UserValue);
  if (!asked) return undefined;
  const headers = [[SdkHeader.ConnectionId, encodeUint32(connectionId)] as const, ...toSdk(message)];
  if (frame.body[0] === ControlMessageType.TraceRouteResponse)
    return new Message(SdkType.TraceRouteResponse, [...headers, [ChannelHeader.ReplyFor, asked]]);
  const hops = message.uint32(XgressHeader.HopCount) ?? 0;
  if (frame.body[0] !== ControlMessageType.TraceRoute || hops <= 1) return undefined;
  const others = headers.filter(([key]) => key !== SdkHeader.TraceHopCount);
  return new Message(SdkType.TraceRoute, [
    ...others,
    [SdkHeader.TraceHopCount, encodeUint32(hops - 1)],
    [SdkHeader.TraceSourceRequestId, asked],
  ]);
}

function hopsAfterThis(question: Message): number {
  return Math.max(0, (question.uint32(SdkHeader.TraceHopCount) ?? 0) - 1);
}

function* toCircuit({ headers }: Message): Iterable<readonly [number, Buffer]> {
  for (const [sdk, circuit] of COMMON) {
    const value = headers.get(sdk);
    if (value) yield [circuit, value];
  }
}

function* toSdk({ headers }: Message): Iterable<readonly [number, Buffer]> {
  for (const [sdk, circuit] of COMMON) {
    const value = headers.get(circuit);
    if (value) yield [sdk, value];
  }
}
