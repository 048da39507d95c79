// Serves a build of the reference's web console. Its files are under /zac/, and under /assets/ for builds that do not
// know their base path. Paths of its own router answer its first page (reference fact: how its own controller serves
// it).

import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { isAbsolute, join, relative, sep } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { describeError, ProjectError } from '#lib/errors.ts';
import type { ClientSockets } from '#lib/net/client-sockets.ts';

export const CONSOLE_PATH = '/zac/';
const INDEX = 'index.html';
const ASSETS = 'assets';
const TOO_MANY_FILES = 'too many files are open; try again later';

export class ConsoleError extends ProjectError {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super('CONSOLE', message, options);
  }
}

/** Rejects with ConsoleError if `folder` has no built console. `reject` answers unknown paths. */
export async function serveConsole(
  app: FastifyInstance,
  folder: string,
  clientSockets: ClientSockets,
  reject: (request: FastifyRequest, reply: FastifyReply) => void,
): Promise<void> {
  const root = rootOf(folder);
  // Files whose names begin with a dot belong to tools and version control.
  const common = {
    dotfiles: 'ignore',
    allowedPath: (path: string, base = root) => isInside(root, join(base, path)),
  } as const;
  const { default: files } = await import('@fastify/static'); // most simulators serve no console
  await app.register(async (scope) => {
    // Paths outside the folder.
    scope.setErrorHandler((_error, request, reply) => reject(request, reply));
    // A file stays open until its client has read it.
    scope.addHook('onRequest', async (_request, reply) =>
      clientSockets.admit(reply.raw) ? undefined : reply.code(503).header('retry-after', '1').send(TOO_MANY_FILES),
    );
    await scope.register(files, { ...common, root: join(root, ASSETS), prefix: `/${ASSETS}/`, suppressWarning: true });
    await scope.register(
      async (pages) => {
        await pages.register(files, { ...common, root, prefix: '/', decorateReply: false });
        // Handlers that return the reply make Fastify wait for it with more listeners than Node expects.
        pages.get('/', { exposeHeadRoute: true }, (_request, reply) => void reply.sendFile(INDEX, root));
        pages.setNotFoundHandler((request, reply) => {
          if (isPage(request)) reply.sendFile(INDEX, root);
          else reject(request, reply);
        });
      },
      { prefix: CONSOLE_PATH.slice(0, -1) },
    );
  });
}

/** The real path of the console's folder. Throws ConsoleError if it has no first page. */
function rootOf(folder: string): string {
  try {
    const root = realpathSync(folder);
    const index = join(root, INDEX);
    accessSync(index, constants.R_OK);
    if (!isInside(root, index)) throw new Error(`${INDEX} is not a file of this folder`);
    return root;
  } catch (error) {
    const why = `${folder} holds no built web console: ${describeError(error)}; give the folder with its ${INDEX}`;
    throw new ConsoleError(why, { cause: error });
  }
}

/**
 * Whether a path is a regular file in the folder, after resolving symbolic links. Opening a pipe would wait for its
 * writer.
 */
function isInside(root: string, path: string): boolean {
  try {
    const real = realpathSync(path);
    const parts = relative(root, real).split(sep);
    return !isAbsolute(relative(root, real)) && !parts.some((part) => part.startsWith('.')) && statSync(real).isFile();
  } catch {
    return false; // it does not exist, or the name is not valid for a file
  }
}

/** Whether a browser navigates to the URL, rather than loading a script or an image of a page. */
function isPage({ method, headers }: FastifyRequest): boolean {
  return (method === 'GET' || method === 'HEAD') && (headers.accept ?? '').includes('text/html');
}
