// A message as JSON for the traces of a controller.

import { decodeMessage, messageName } from '#wire/decode-message.ts';
import type { Frame } from '#wire/frame.ts';
import { SDK_BODIES } from './sdk-bodies.ts';

/** Values in the JSON. */
const MAX_PARTS = 100;

/**
 * Its name and all known parts, at one level, because the reference prints only texts, numbers and booleans. Empty for
 * an unknown content type.
 */
export function decodeForController(frame: Frame): Buffer {
  const known = messageName(frame.contentType);
  if (!known) return Buffer.alloc(0);
  const { body, ...headers } = decodeMessage(frame, SDK_BODIES);
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
