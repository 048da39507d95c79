// Trace route messages inside circuits: a question loses one hop at every router and is answered where its hops end
// (reference fact: link, section 2.2).

import { Frame } from '#wire/frame.ts';
import { ControlMessageType, XgressHeader, XgressType } from '#wire/gen/numbers.ts';
import { encodeUint32, encodeUint64 } from '#wire/header-values.ts';
import { Message } from '#wire/message.ts';

export interface TraceStep {
  readonly isRequest: boolean;
  /** The hops are used up: answer here. */
  readonly used: boolean;
  /** What to pass on otherwise. */
  readonly frame: Frame;
}

/** Looks at a control frame and takes one hop from it when it is a trace route question. */
export function traceRouteStep(frame: Frame): TraceStep {
  if (frame.body[0] !== ControlMessageType.TraceRoute) return { isRequest: false, used: false, frame };
  const message = Message.fromFrame(frame);
  const hops = message.uint32(XgressHeader.HopCount) ?? 0;
  const left = Math.max(0, hops - 1);
  message.headers.set(XgressHeader.HopCount, encodeUint32(left));
  return { isRequest: true, used: left === 0, frame: new Frame(message.encode()) };
}

export interface TraceHop {
  readonly hopType: string;
  readonly hopId: string;
  /** Milliseconds. */
  readonly now: number;
  readonly error?: string | undefined;
}

/** The answer to a trace route question, from the hop that `hop` describes. */
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
