// The yardstick: a program that only answers bytes from memory over TLS. Its parent sends it the answers: path →
// method, status, body.

import fastify from 'fastify';

interface Setup {
  readonly key: string;
  readonly cert: string;
  readonly answers: Readonly<
    Record<string, { readonly method: 'GET' | 'POST'; readonly status: number; readonly body: string }>
  >;
}

process.once('message', async ({ key, cert, answers }: Setup) => {
  const app = fastify({ https: { key, cert } });
  for (const [url, { method, status, body }] of Object.entries(answers))
    app.route({
      method,
      url,
      handler: (_request, reply) => reply.code(status).header('content-type', 'application/json').send(body),
    });
  await app.listen({ port: 0, host: '127.0.0.1' });
  process.send?.({ port: app.server.address() && (app.server.address() as { port: number }).port });
});
process.once('disconnect', () => process.exit(0));
