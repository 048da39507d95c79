// Reads `accept` headers: whether a client accepts answers in JSON.

import type { IncomingHttpHeaders } from 'node:http';

const JSON_RANGES: ReadonlySet<string> = new Set(['*/*', 'application/*', 'application/json']);
const NO_WEIGHT = /^\s*q\s*=\s*0(?:\.0{0,3})?\s*$/i;

/**
 * Without the header, a client accepts everything. reference fact: with an empty one it accepts nothing, and
 * `application/x+json` is another type.
 */
export function acceptsJson({ accept }: IncomingHttpHeaders): boolean {
  return accept === undefined || accept.split(',').some(isJsonRange);
}

function isJsonRange(part: string): boolean {
  const [range = '', ...parameters] = part.split(';');
  return JSON_RANGES.has(range.trim().toLowerCase()) && !parameters.some((each) => NO_WEIGHT.test(each));
}
