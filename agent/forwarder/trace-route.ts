// Trace route messages inside circuits. Every router takes one hop from a request; the router where the hops run out
// answers (reference fact: link, section 2.2).

import { Frame } from '#wire/frame.ts';
import { ControlMessageType, XgressHeader, XgressType } from '#wire/gen/numbers.ts';
import { encodeUint32, encodeUint64 } from '#wire/header-values.ts';
import { type HeaderEntries, Message } from '#wire/message.ts';

/** More hops than any path has, so the request reaches the other end. */
const HOPS_TO_THE_END = 255;

export interface TraceStep {
  readonly isRequest: boolean;
  /** The hops are used up: this router answers. */
  readonly used: boolean;
  /** The frame to forward if the hops are not used up. */
  readonly frame: Frame;
}

/** Reads a control frame and takes one hop from it if it is a trace route request. */
export function traceRouteStep(frame: Frame): TraceStep {
  if (frame.body[0] !== ControlMessageType.TraceRoute) return { isRequest: false, used: false, frame };
  const message = Message.fromFrame(frame);
  const hops = message.uint32(XgressHeader.HopCount) ?? 0;
  const left = Math.max(0, hops - 1);
  message.headers.set(XgressHeader.HopCount, encodeUint32(left));
  return { isRequest: true, used: left === 0, frame: new Frame(message.encode()) };
}

/** Creates a request that only the other end of a circuit answers. */
export function traceRouteQuestion(circuitId: string): Frame {
  return traceRouteFrame(ControlMessageType.TraceRoute, circuitId, [
    [XgressHeader.HopCount, encodeUint32(HOPS_TO_THE_END)],
  ]);
}

/** Encodes a trace route request or answer. */
export function traceRouteFrame(type: ControlMessageType, circuitId: string, headers: HeaderEntries): Frame {
  const body = Buffer.concat([Buffer.of(type), Buffer.from(circuitId)]);
  return new Frame(new Message(XgressType.Control, headers, body).encode());
}

/** Returns true if the other end answered; false for the error of a router on the path that has no route. */
export function isAnswerOfEnd(frame: Frame): boolean {
  if (frame.body[0] !== ControlMessageType.TraceRouteResponse) return false;
  return !Message.fromFrame(frame).headers.has(XgressHeader.Error);
}

export interface TraceHop {
  readonly hopType: string;
  readonly hopId: string;
  /** Milliseconds. */
  readonly now: number;
  readonly error?: string | undefined;
}

/** Creates the answer to a trace route request, from the hop that `hop` describes. */
export function traceRouteAnswer(question: Frame, hop: TraceHop): Frame {
  const asked = Message.fromFrame(question);
  const body = Buffer.from(asked.body);
  body[0] = ControlMessageType.TraceRouteResponse;
  const answer = new Message(XgressType.Control, asked.headers, body);
  answer.headers.set(XgressHeader.HopType, Buffer.from(hop.hopType));
  answer.headers.set(XgressHeader.HopId, Buffer.from(hop.hopId));
  if (!asked.headers.has(XgressHeader.Timestamp))
    answer.headers.set(XgressHeader.Timestamp, encodeUint64(BigInt(Math.round(hop.now))));
  if (hop.error !== undefined) answer.headers.set(XgressHeader.Error, Buffer.from(hop.error));
  return new Frame(answer.encode());
}
