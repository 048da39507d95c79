// A message in the journal: its bytes, which are decoded when somebody reads the entry.

import { isMap } from '#lib/json/is-map.ts';
import { decodeMessage, isDecoded } from '#wire/decode-message.ts';
import { Frame } from '#wire/frame.ts';
import { shownMessage } from './redact.ts';

/** Bytes of a message whose content the journal keeps. */
export const MAX_MESSAGE_BYTES = 8_192;

/** The fields of a message without secrets. */
export type MessageContent = Readonly<Record<string, unknown>>;

/**
 * The bytes of a frame, one character each: such a text has memory of its own, where a small buffer would keep the
 * block that it shares with others. Undefined for a long message, and for a type whose content is not shown. `encode`
 * is called only if it is needed.
 */
export function keptMessage(contentType: number, bodyLength: number, encode: () => Buffer): string | undefined {
  if (bodyLength > MAX_MESSAGE_BYTES || !isDecoded(contentType)) return undefined;
  const bytes = encode();
  return bytes.length > MAX_MESSAGE_BYTES ? undefined : bytes.toString('latin1');
}

/** The content of a kept message; undefined if it has none. */
export function contentOf(kept: string | undefined): MessageContent | undefined {
  if (kept === undefined) return undefined;
  let decoded: Record<string, unknown>;
  try {
    decoded = decodeMessage(new Frame(Buffer.from(kept, 'latin1')));
  } catch {
    return { problem: 'cannot be decoded' }; // the peer may send anything
  }
  const { body, ...headers } = decoded;
  const content = { ...headers, ...(isMap(body) ? body : body !== undefined && { [nameOfBody(body)]: body }) };
  return Object.keys(content).length === 0 ? undefined : shownMessage(content);
}

function nameOfBody(body: unknown): string {
  return Array.isArray(body) ? 'sequences' : 'text';
}
