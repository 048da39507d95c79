// Files that the simulator itself contains, such as those of the dashboard: a fixed table of paths, each with its text.
// Everybody may read them. They are neither recorded in the journal nor subject to faults.

import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { sendCompressed } from './compression.ts';

export interface StaticPage {
  /** Without a slash at its end, because the server ignores one. */
  readonly path: string;
  readonly contentType: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Reads the file, once. */
  read(): string;
}

export function serveStaticPages(app: FastifyInstance, pages: readonly StaticPage[]): void {
  for (const page of pages) {
    let kept: { readonly body: Buffer; readonly etag: string } | undefined;
    app.get(page.path, { exposeHeadRoute: true, config: { isStaticPage: true } }, (request, reply) => {
      kept ??= withTag(page.read());
      reply.headers(page.headers).header('etag', kept.etag);
      if (isKnown(request, kept.etag)) return reply.code(304).send();
      return send(request, reply.header('content-type', page.contentType), kept.body);
    });
  }
}

/** A weak tag: the answer may be compressed. */
function withTag(text: string): { body: Buffer; etag: string } {
  return { body: Buffer.from(text), etag: `W/"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"` };
}

function isKnown({ headers }: FastifyRequest, etag: string): boolean {
  const known = headers['if-none-match']?.split(',').map((each) => each.trim()) ?? [];
  return known.includes(etag) || known.includes('*');
}

function send(request: FastifyRequest, reply: FastifyReply, body: Buffer): FastifyReply {
  return sendCompressed(request, reply.code(200), body, { isConstant: true });
}
