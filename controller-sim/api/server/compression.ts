// Compresses large answers for clients that accept gzip.

import { promisify } from 'node:util';
import { gzip, gzipSync } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { contentCoding } from '#http/content-encoding.ts';

/** Smallest body in bytes for which compression pays. */
const SMALLEST = 1_024;
/** Bytes from which a thread compresses while other requests continue: a list of 500 identities takes 15 ms. */
const LARGE = 32 * 1_024;
const gzipInThread = promisify(gzip);

/** Sends `body`, compressed if it is worth it and the client accepts it. */
export async function sendCompressed(
  request: FastifyRequest,
  reply: FastifyReply,
  body: string | Buffer,
): Promise<void> {
  if (body.length < SMALLEST) {
    reply.send(body);
    return;
  }
  reply.header('vary', 'accept-encoding');
  if (contentCoding(request.headers['accept-encoding'], ['gzip']) === undefined) {
    reply.send(body);
    return;
  }
  reply.header('content-encoding', 'gzip');
  reply.send(body.length < LARGE ? gzipSync(body) : await gzipInThread(body));
}
