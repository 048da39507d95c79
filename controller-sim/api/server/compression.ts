// Compresses large answers for clients that accept gzip.

import { createGzip, type Gzip, gzipSync } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { contentCoding } from '#http/content-negotiation.ts';

/** Smallest body in bytes for which compression pays. */
const MIN_COMPRESSED_BYTES = 1_024;
/**
 * Bytes from which a stream compresses, in a thread, while other requests continue: a list of 500 identities takes
 * 15 ms. For less than that, a stream costs more than the compression.
 */
const LARGE = 32 * 1_024;

/** Compressed forms of constant bodies: clients without rights may ask for these. */
const compressed = new WeakMap<Buffer, Buffer>();

/** Sends `body`, compressed if it is worth it and the client accepts it. Constant bodies are compressed once. */
export function sendCompressed(
  request: FastifyRequest,
  reply: FastifyReply,
  body: string | Buffer,
  { isConstant = false }: { isConstant?: boolean } = {},
): FastifyReply {
  if (body.length < MIN_COMPRESSED_BYTES) return reply.send(body);
  reply.header('vary', 'accept-encoding');
  if (contentCoding(request.headers['accept-encoding'], ['gzip']) === undefined) return reply.send(body);
  reply.header('content-encoding', 'gzip');
  if (isConstant && Buffer.isBuffer(body)) return reply.send(compressedOnce(body));
  return reply.send(body.length < LARGE ? gzipSync(body) : compressing(body));
}

function compressedOnce(body: Buffer): Buffer {
  const known = compressed.get(body);
  if (known) return known;
  const made = gzipSync(body);
  compressed.set(body, made);
  return made;
}

function compressing(body: string | Buffer): Gzip {
  const stream = createGzip();
  stream.end(body);
  return stream;
}
