// How a command on the same machine asks a running router what it does: a Unix socket that answers one JSON document per connection. Only
// the user that runs the router can reach it: it lies in a folder that is that user's alone.

import { createHash } from 'node:crypto';
import { chmodSync, realpathSync, rmSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { claimPrivateFolder, refuseForeignFolder } from '#lib/atomic-file.ts';
import { describeError } from '#lib/errors.ts';
import { parseJson } from '#lib/json.ts';
import type { Log } from '#lib/log.ts';

const ASK_TIMEOUT = 5_000;
const MOST_CONNECTIONS = 10;
const LARGEST_ANSWER = 16 * 1024 * 1024;

/** Where the router of a configuration file answers. A socket's path must be short, so it holds a hash of the file's. */
export function inspectPath(configFile: string): string {
  const hash = createHash('sha256').update(realPath(configFile)).digest('hex').slice(0, 16);
  return join(tmpdir(), `edgeweave-${userInfo().uid}`, `${hash}.sock`);
}

export class InspectSocket {
  readonly #server: Server;
  readonly #path: string;

  private constructor(server: Server, path: string) {
    this.#server = server;
    this.#path = path;
  }

  /** Opens the socket; without one the router works as well, so a failure is only logged. */
  static async open(configFile: string, describe: () => unknown, log: Log): Promise<InspectSocket | undefined> {
    const path = inspectPath(configFile);
    const server = createServer((socket) => {
      socket
        .on('error', () => socket.destroy())
        .end(JSON.stringify(describe(), (_key, value) => (typeof value === 'bigint' ? String(value) : value)));
    });
    server.maxConnections = MOST_CONNECTIONS;
    try {
      claimPrivateFolder(dirname(path));
      rmSync(path, { force: true }); // what a killed router left behind
      await new Promise<void>((done, fail) => server.once('error', fail).listen(path, done));
      chmodSync(path, 0o600);
      return new InspectSocket(server, path);
    } catch (error) {
      log.warn({ path, error: describeError(error) }, 'router cannot be inspected');
      return undefined;
    }
  }

  close(): void {
    this.#server.close();
    rmSync(this.#path, { force: true });
  }
}

/** Asks the running router of a configuration file. Rejects when there is none. */
export function inspectRouter(configFile: string): Promise<Record<string, unknown>> {
  return new Promise((done, fail) => {
    const path = inspectPath(configFile);
    refuseForeignFolder(dirname(path)); // somebody else's socket may answer anything
    const socket = connect(path);
    let text = '';
    socket.setTimeout(ASK_TIMEOUT, () => socket.destroy(new Error(`no answer within ${ASK_TIMEOUT} ms`)));
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      if (text.length > LARGEST_ANSWER) socket.destroy(new Error('the answer is larger than any router'));
    });
    socket.once('error', fail);
    socket.once('end', () => {
      try {
        done(parseJson(text) as Record<string, unknown>);
      } catch (error) {
        fail(new Error('the answer is not the JSON of a router', { cause: error }));
      }
    });
  });
}

function realPath(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return resolve(file); // who asks for a file that is not there hears that no router runs with it
  }
}
