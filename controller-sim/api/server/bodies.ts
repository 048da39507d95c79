// Parses request bodies: JSON is parsed, other content types stay text, an empty body is undefined.

import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { describeError } from '#lib/errors.ts';
import { JsonDepthError, parseJson } from '#lib/json/json.ts';
import { wellFormed } from '#lib/text/well-formed.ts';
import { isJson } from '../../entities/body.ts';
import { ApiError } from '../../errors/errors.ts';
import { BodyReader } from './body-reader.ts';

/** Bytes. */
export const MAX_BODY_BYTES = 1024 * 1024;

export function readBodies(app: FastifyInstance): void {
  const reader = new BodyReader();
  // `GET mfa/recovery-codes` reads its MFA code from a body.
  app.addHttpMethod('GET', { hasBody: true, overrideExisting: true });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (request: FastifyRequest, payload: IncomingMessage) =>
    readBody(reader, request, payload),
  );
}

async function readBody(reader: BodyReader, request: FastifyRequest, payload: IncomingMessage): Promise<unknown> {
  const { method, headers, routeOptions, raw } = request;
  const limit = routeOptions.bodyLimit ?? MAX_BODY_BYTES;
  if (Number(headers['content-length']) > limit) throw new ApiError('REQUEST_ENTITY_TOO_LARGE');
  const body = await reader.read(payload, { remoteAddress: raw.socket.remoteAddress, limit });
  if (body === '') return undefined;
  if (!isJson(headers['content-type'] ?? '')) return body;
  if (body.trim() === '') return undefined; // reference fact: blanks count as a missing body
  try {
    return parseBody(body, method);
  } catch (error) {
    if (method === 'GET') return undefined; // all other GETs ignore their body, so an invalid one does not matter
    throw error;
  }
}

/** The escape of half of a pair of surrogates. */
const SURROGATE = /\\u[dD][89a-fA-F]/;

/** Throws ApiError for text that is not JSON or is nested too deeply. */
function parseBody(text: string, method: string): unknown {
  try {
    const body = method === 'PATCH' ? parseJson(text) : parseFirst(text);
    return SURROGATE.test(text) ? wellFormed(body) : body;
  } catch (error) {
    // The parser's message quotes parts of the body, which may be a password. The answer names only the position.
    const place = / at position \d+(?: \(line \d+ column \d+\))?/.exec(describeError(error))?.[0] ?? '';
    const why = error instanceof JsonDepthError ? error.message : `the body is not JSON${place}`;
    throw new ApiError('COULD_NOT_PARSE_BODY', { code: 'UNHANDLED', message: why });
  }
}

/** The first JSON value. reference fact: it ignores what follows, except in a PATCH. */
function parseFirst(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    const end = /^Unexpected non-whitespace character after JSON at position (?<end>\d+)/.exec(describeError(error))
      ?.groups?.end;
    if (end === undefined) throw error;
    return parseJson(text.slice(0, Number(end)));
  }
}
