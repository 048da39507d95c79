// Messages of the router to SDK clients, apart from circuit traffic (reference fact: edge, sections 2 and 3).

import { ProjectError } from '#lib/errors.ts';
import { FRAME_HEAD_LENGTH, writeFrameHead } from '#wire/frame.ts';
import {
  EdgeErrorCode,
  PayloadFlag,
  PayloadHeader,
  RetryHint,
  SdkHeader,
  SdkType,
  XgressHeader,
  XgressType,
} from '#wire/gen/numbers.ts';
import { encodeUint32, encodeUint64 } from '#wire/header-values.ts';
import { type HeaderEntries, Message } from '#wire/message.ts';
import type { CircuitRole } from '../../../xgress/xgress-metrics.ts';

export interface RejectionDetail {
  readonly code: EdgeErrorCode;
  readonly hint?: RetryHint;
  readonly circuitId?: string | undefined;
  readonly failingChecks?: readonly string[];
}

/** A rejected request of an SDK client; the client receives the message and the detail. */
export class SdkRejection extends ProjectError {
  readonly rejection: RejectionDetail;

  constructor(message: string, rejection: RejectionDetail, options: { cause?: unknown } = {}) {
    super('SDK_REJECTED', message, options);
    this.rejection = rejection;
  }
}

/** Returns the detail of an error for the client. */
export function rejectionOf(error: unknown): RejectionDetail {
  return error instanceof SdkRejection ? error.rejection : { code: EdgeErrorCode.Internal };
}

/** Errors that a repetition of the request with the same session does not change. */
const OF_RIGHTS: ReadonlySet<EdgeErrorCode> = new Set([
  EdgeErrorCode.InvalidApiSession,
  EdgeErrorCode.InvalidSession,
  EdgeErrorCode.WrongSessionType,
  EdgeErrorCode.InvalidService,
  EdgeErrorCode.InvalidApiSessionType,
  EdgeErrorCode.AccessDenied,
  EdgeErrorCode.PostureCheckFailed,
]);

/** Returns true if the client lacks the right to what it requests. */
export function lacksRight(error: unknown): boolean {
  return OF_RIGHTS.has(rejectionOf(error).code);
}

/** Bytes of a client's text that are passed on to controllers and the log. */
const MAX_TEXT_LENGTH = 1_000;

/** The text of a client's message, cut off if it is long. */
export function textOf({ body }: Message): string {
  return body.toString('utf8', 0, MAX_TEXT_LENGTH);
}

/** Bytes of the body and the headers of a message. */
export function sizeOf({ body, headers }: Message): number {
  return [...headers.values()].reduce((sum, value) => sum + value.length, body.length);
}

const DATA_ENTRY = 8;
const UUID_LENGTH = 16;
/** Header key of the trace UUID in messages of the channel. */
const UUID_HEADER = 128;

export function stateConnected(connectionId: number, headers: HeaderEntries = []): Message {
  return new Message(SdkType.StateConnected, [[SdkHeader.ConnectionId, encodeUint32(connectionId)], ...headers]);
}

/**
 * The body with which SDKs renew the session of a service. SDKs in C compare it exactly, and repeat a rejected token
 * without end if it has a further word (reference fact: edge, section 6).
 */
const INVALID_SESSION = 'Invalid Session';

/**
 * The connection is closed, or was never opened; with `detail` if that is an error. The reason of an invalid session is
 * in the headers only.
 */
export function stateClosed(connectionId: number, reason: string, detail?: RejectionDetail): Message {
  const isOfSession = detail?.code === EdgeErrorCode.InvalidSession || reason.startsWith(INVALID_SESSION);
  return new Message(
    SdkType.StateClosed,
    [[SdkHeader.ConnectionId, encodeUint32(connectionId)], ...(detail ? errorHeaders(reason, detail) : [])],
    isOfSession ? INVALID_SESSION : reason,
  );
}

/** A payload for the `to` end of a circuit: its peer accepts no further data. */
export function writeFailed(init: {
  readonly connectionId: number;
  readonly circuitId: string;
  readonly sequence: number;
  readonly to: CircuitRole;
}): Message {
  const flags = PayloadFlag.WriteFailed | (init.to === 'initiator' ? PayloadFlag.Originator : 0);
  return new Message(XgressType.Payload, [
    [SdkHeader.ConnectionId, encodeUint32(init.connectionId)],
    [XgressHeader.CircuitId, init.circuitId],
    [XgressHeader.Sequence, encodeUint64(BigInt(init.sequence))],
    [XgressHeader.Flags, encodeUint32(flags)],
  ]);
}

export function errorHeaders(
  message: string,
  { code, hint, circuitId, failingChecks }: RejectionDetail,
): (readonly [number, Uint8Array | string])[] {
  const structured = {
    message,
    code,
    retryHint: hint ?? RetryHint.Default,
    ...(failingChecks && failingChecks.length > 0 && { failingPostureCheckIds: failingChecks }),
  };
  return [
    [SdkHeader.ErrorCode, encodeUint32(code)],
    [SdkHeader.StructuredError, JSON.stringify(structured)],
    ...(circuitId === undefined ? [] : ([[SdkHeader.CircuitId, circuitId]] as const)),
  ];
}

/** Head of a Data message; the body follows. Payload headers become channel headers. */
export function dataHead(
  connectionId: number,
  bodyLength: number,
  headers: ReadonlyMap<number, Buffer> | undefined,
): Buffer {
  const uuid = headers?.get(PayloadHeader.TraceUuid);
  const flags = headers?.get(PayloadHeader.EdgeFlags);
  const isUuid = uuid?.length === UUID_LENGTH;
  const isFlags = flags?.length === 4;
  const length = DATA_ENTRY + 4 + (isUuid ? DATA_ENTRY + UUID_LENGTH : 0) + (isFlags ? DATA_ENTRY + 4 : 0);
  const head = Buffer.allocUnsafe(FRAME_HEAD_LENGTH + length);
  writeFrameHead(head, SdkType.Data, length, bodyLength);
  let offset = FRAME_HEAD_LENGTH;
  if (isUuid) offset = writeEntry(head, offset, UUID_HEADER, uuid);
  offset = writeEntry(head, offset, SdkHeader.ConnectionId, encodeUint32(connectionId));
  if (isFlags) writeEntry(head, offset, SdkHeader.Flags, flags);
  return head;
}

/** The payload headers of a Data message; undefined if there are none. */
export function payloadHeaders(
  uuid: Buffer | undefined,
  flags: Buffer | undefined,
): ReadonlyMap<number, Buffer> | undefined {
  if (!uuid && !flags) return undefined;
  const headers = new Map<number, Buffer>();
  if (uuid) headers.set(PayloadHeader.TraceUuid, uuid);
  if (flags) headers.set(PayloadHeader.EdgeFlags, flags);
  return headers;
}

function writeEntry(bytes: Buffer, offset: number, key: number, value: Buffer): number {
  bytes.writeInt32LE(key, offset);
  bytes.writeUInt32LE(value.length, offset + 4);
  value.copy(bytes, offset + DATA_ENTRY);
  return offset + DATA_ENTRY + value.length;
}
