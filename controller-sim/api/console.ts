// The reference's web console, built by whoever wants it: its files under /zac/ and, for builds that do not know where they are served,
// under /assets/; its first page for the paths that it makes up by itself (reference fact: how its own controller serves it).

import { access, constants } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { describeError, ProjectError } from '#lib/errors.ts';

export const CONSOLE_PATH = '/zac/';
const INDEX = 'index.html';
const ASSETS = 'assets';

export class ConsoleError extends ProjectError {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super('CONSOLE', message, options);
  }
}

/** Rejects with ConsoleError when `folder` is not that of a built console. `refuse` answers what is not there. */
export async function serveConsole(
  app: FastifyInstance,
  folder: string,
  refuse: (request: FastifyRequest, reply: FastifyReply) => void,
): Promise<void> {
  const root = resolve(folder);
  try {
    await access(join(root, INDEX), constants.R_OK);
  } catch (error) {
    const why = `${root} holds no built web console: ${describeError(error)}; give the folder with its ${INDEX}`;
    throw new ConsoleError(why, { cause: error });
  }
  const { default: files } = await import('@fastify/static'); // most simulators have no console
  await app.register(async (scope) => {
    // Paths that lead out of the folder.
    scope.setErrorHandler((_error, request, reply) => refuse(request, reply));
    await scope.register(files, { root: join(root, ASSETS), prefix: `/${ASSETS}/`, suppressWarning: true });
    await scope.register(
      async (pages) => {
        await pages.register(files, { root, prefix: '/', decorateReply: false });
        pages.get('/', (_request, reply) => reply.sendFile(INDEX, root));
        pages.setNotFoundHandler((request, reply) => {
          if (isPage(request)) return reply.sendFile(INDEX, root);
          refuse(request, reply);
          return reply;
        });
      },
      { prefix: CONSOLE_PATH.slice(0, -1) },
    );
  });
}

/** A browser goes somewhere, in contrast to a script or a picture that a page lacks. */
function isPage({ method, headers }: FastifyRequest): boolean {
  return (method === 'GET' || method === 'HEAD') && (headers.accept ?? '').includes('text/html');
}
