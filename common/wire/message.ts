// A message with parsed headers, for all code except the forwarding path.

import type { DescMessage, MessageShape } from '@bufbuild/protobuf';
import { describeError } from '#lib/errors.ts';
import { decodeBody } from './decode-body.ts';
import { ProtocolError } from './errors.ts';
import { FRAME_HEAD_LENGTH, type Frame, forEachHeader, writeFrameHead, writeSequence } from './frame.ts';
import { ChannelHeader, ChannelType } from './gen/numbers.ts';
import {
  decodeBool,
  decodeInt32,
  decodeString,
  decodeUint32,
  decodeUint64,
  encodeBool,
  encodeInt32,
} from './header-values.ts';

export type HeaderEntries = Iterable<readonly [number, Uint8Array | string]>;

const EMPTY = Buffer.alloc(0);
/** Sequence number of a hello and its result. */
export const HELLO_SEQUENCE = -1;

export class Message {
  readonly contentType: number;
  readonly headers: Map<number, Buffer>;
  readonly body: Buffer;
  /** Assigned by the channel when the message is sent. */
  sequence = 0;
  /** The limit on the fields of a received message, from the channel. */
  maxFields: number | undefined;

  constructor(contentType: number, headers: HeaderEntries = [], body: Uint8Array | string = EMPTY) {
    this.contentType = contentType;
    this.headers = new Map();
    for (const [key, value] of headers) this.headers.set(key, toBuffer(value));
    this.body = toBuffer(body);
  }

  /** @throws ProtocolError if the header block is invalid */
  static fromFrame(frame: Frame): Message {
    const message = new Message(frame.contentType, [], frame.body);
    message.sequence = frame.sequence;
    forEachHeader(frame.bytes, frame.bodyOffset, (key, start, end) =>
      message.headers.set(key, frame.bytes.subarray(start, end)),
    );
    return message;
  }

  /** The whole frame, headers in ascending order of their keys. */
  encode(): Buffer {
    let headersLength = 0;
    for (const value of this.headers.values()) headersLength += 8 + value.length;
    const bytes = Buffer.allocUnsafe(FRAME_HEAD_LENGTH + headersLength + this.body.length);
    writeFrameHead(bytes, this.contentType, headersLength, this.body.length);
    writeSequence(bytes, this.sequence);
    let offset = FRAME_HEAD_LENGTH;
    for (const key of [...this.headers.keys()].sort((a, b) => a - b)) {
      const value = this.headers.get(key) ?? EMPTY;
      bytes.writeInt32LE(key, offset);
      bytes.writeUInt32LE(value.length, offset + 4);
      value.copy(bytes, offset + 8);
      offset += 8 + value.length;
    }
    this.body.copy(bytes, offset);
    return bytes;
  }

  bool(key: number): boolean {
    return decodeBool(this.headers.get(key));
  }

  uint32(key: number): number | undefined {
    return decodeUint32(this.headers.get(key));
  }

  uint64(key: number): bigint | undefined {
    return decodeUint64(this.headers.get(key));
  }

  string(key: number): string | undefined {
    return decodeString(this.headers.get(key));
  }

  /** The sequence number of the message that this one answers; undefined if it is not an answer. */
  get replyFor(): number | undefined {
    return decodeInt32(this.headers.get(ChannelHeader.ReplyFor));
  }

  /**
   * Parses the body as a protobuf message. @throws ProtocolError, also for more fields than its size suggests
   * @param readUnknownFields False for messages that are kept: unknown fields keep the memory of the whole body.
   */
  decode<Desc extends DescMessage>(schema: Desc, readUnknownFields = true): MessageShape<Desc> {
    try {
      return decodeBody(schema, this.body, { maxFields: this.maxFields, readUnknownFields });
    } catch (error) {
      throw new ProtocolError(
        `the body of a ${schema.name} message (type ${this.contentType}) cannot be read: ${describeError(error)}`,
        { cause: error },
      );
    }
  }
}

/** Makes `answer` the reply to `request`; the correlation slot is the only header that a reply copies. */
export function asReply(request: Message, answer: Message): Message {
  answer.headers.set(ChannelHeader.ReplyFor, encodeInt32(request.sequence));
  const correlation = request.headers.get(ChannelHeader.Correlation);
  if (correlation) answer.headers.set(ChannelHeader.Correlation, Buffer.from(correlation)); // the request may be long
  return answer;
}

/** A Result message: success or failure, with a text. */
export function resultMessage(success: boolean, text = '', headers: HeaderEntries = []): Message {
  return new Message(ChannelType.Result, [...headers, [ChannelHeader.ResultSuccess, encodeBool(success)]], text);
}

function toBuffer(value: Uint8Array | string): Buffer {
  if (typeof value === 'string') return Buffer.from(value);
  return Buffer.isBuffer(value) ? value : Buffer.from(value.buffer, value.byteOffset, value.byteLength);
}
