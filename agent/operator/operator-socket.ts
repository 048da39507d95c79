// The server of the operator socket: a Unix socket through which commands of the same user query a running router, for
// example `router inspect` and `router drain`. A client sends one line of JSON and receives lines of JSON: any number
// of `progress`, then one `result` or `error`. Only the user that runs the router can reach the socket, because its
// folder is private to that user.

import { chmodSync, symlinkSync } from 'node:fs';
import { opendir } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { background } from '#lib/background.ts';
import { describeError, errorCode, ProjectError } from '#lib/errors.ts';
import { claimPrivateFolder } from '#lib/files/atomic-file.ts';
import { linkTarget } from '#lib/files/symbolic-links.ts';
import { isMap } from '#lib/json/is-map.ts';
import { parseJson } from '#lib/json/json.ts';
import type { Log } from '#lib/log/log.ts';
import type { Clock } from '#lib/time/clock.ts';
import { AGENT_MAGIC } from './agent-protocol.ts';
import { claimPath, fileAt, PathTakenError, removeFile } from './claim-path.ts';
import {
  AGENT_LINK,
  agentLink,
  isOfServiceManager,
  LONG_PATH_REMEDY,
  operatorPath,
  PATH_TOO_LONG,
} from './operator-path.ts';
import { agentRequestState, type ReferenceAgentComponents, serveAgent } from './reference-agent.ts';

/** One request, as a command receives it. */
export interface OperatorRequest {
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
  /** Sends a progress report to the waiting client. */
  progress(value: unknown): void;
}

/** Returns a value for JSON, or a promise of one. A thrown error becomes the answer, with its code and message. */
export type OperatorCommand = (request: OperatorRequest) => unknown;

export type OperatorCommands = Readonly<Record<string, OperatorCommand>>;

export interface OperatorSocketComponents {
  clock: Clock;
  log: Log;
  commands: OperatorCommands;
  /** For clients that use the protocol of the reference's agent. */
  agent?: ReferenceAgentComponents;
}

/** Serves the request of a client. */
type RequestServer = (socket: Socket, signal: AbortSignal) => Promise<void>;

/** Limit on clients. Each needs memory for a request and an answer. */
const MAX_CONNECTIONS = 10;
/** Bytes of a request: a command name and a few short arguments. */
const MAX_REQUEST_BYTES = 8 * 1024;
/** Milliseconds that a client has for its request. */
const REQUEST_TIMEOUT = 5_000;
/** Milliseconds that a client has to read its answer. */
const READ_TIMEOUT = 30_000;
/** Bytes of unread progress; further progress is dropped. */
const MAX_UNREAD_BYTES = 64 * 1024;
/** Limit on entries of the folder for temporary files among which names of killed routers are sought. */
const MAX_TEMPORARY_FILES = 10_000;

export class OperatorSocket {
  readonly #components: OperatorSocketComponents;
  readonly #server: Server;
  readonly #path: string;
  readonly #sockets = new Set<Socket>();
  /** The files of this process. */
  #socketFile: string | undefined;
  #linkFile: string | undefined;

  private constructor(components: OperatorSocketComponents, path: string) {
    this.#components = components;
    this.#path = path;
    this.#server = createServer({ allowHalfOpen: true }, (socket) => this.#onConnection(socket));
    this.#server.maxConnections = MAX_CONNECTIONS;
  }

  /** Opens the socket. The router works without it, so a failure is only logged. */
  static async open(components: OperatorSocketComponents, configFile: string): Promise<OperatorSocket | undefined> {
    const path = operatorPath(configFile);
    const opened = new OperatorSocket(components, path);
    const server = opened.#server;
    try {
      claimPrivateFolder(dirname(path));
      const wasLeft = await claimPath(path, () => opened.#listen(), components.clock);
      server.on('error', (error) =>
        components.log.error({ path, error: describeError(error) }, 'operator socket failed'),
      );
      chmodSync(path, 0o600);
      if (components.agent) await opened.#linkAgent(wasLeft || isOfServiceManager(path));
      return opened;
    } catch (error) {
      server.close();
      const remedy = errorCode(error) === PATH_TOO_LONG ? { remedy: LONG_PATH_REMEDY } : {};
      const isTaken = error instanceof PathTakenError;
      const problem = isTaken ? `another router is running with ${configFile}; stop one of them` : describeError(error);
      components.log.warn({ path, error: problem, ...remedy }, 'operator socket cannot be opened');
      return undefined;
    }
  }

  /** Disconnects clients that wait for an answer. */
  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    removeFile(this.#path, this.#socketFile);
    removeFile(agentLink(), this.#linkFile);
  }

  #listen(): Promise<void> {
    const server = this.#server;
    return new Promise<void>((done, fail) => {
      const onListening = () => {
        server.off('error', onError);
        this.#socketFile = fileAt(this.#path);
        done();
      };
      const onError = (error: Error) => {
        server.off('listening', onListening);
        fail(error);
      };
      server.once('error', onError).once('listening', onListening).listen(this.#path);
    });
  }

  /**
   * The reference's command line finds agents by this name. Programs in containers with a common folder for temporary
   * files may have the same process id: the name belongs to the first one until it ends.
   */
  async #linkAgent(mayHaveOldLinks: boolean): Promise<void> {
    const path = agentLink();
    try {
      if (mayHaveOldLinks) await this.#removeOldLinks(dirname(path));
      await claimPath(path, () => symlinkSync(this.#path, path), this.#components.clock);
      this.#linkFile = fileAt(path);
    } catch (error) {
      const fields = { path, error: describeError(error) };
      this.#components.log.debug(fields, 'ziti agent can find this router only by the path of its socket');
    }
  }

  /**
   * Names that lead to this socket belong to killed routers with the same configuration file. They leave the socket
   * too, unless the service manager removes its folder.
   */
  async #removeOldLinks(folder: string): Promise<void> {
    let seen = 0;
    for await (const { name } of await opendir(folder)) {
      if (++seen > MAX_TEMPORARY_FILES) break;
      const link = join(folder, name);
      if (AGENT_LINK.test(name) && linkTarget(link) === this.#path) removeFile(link, fileAt(link));
    }
  }

  #onConnection(socket: Socket): void {
    const { clock } = this.#components;
    this.#sockets.add(socket);
    const gone = new AbortController();
    const timer = clock.after('operator request', REQUEST_TIMEOUT, () => socket.destroy());
    let received: Buffer = Buffer.alloc(0);
    let isWaiting = true;
    const onData = (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      const serve = this.#serverOf(received, received.length > MAX_REQUEST_BYTES);
      if (serve) start(serve);
    };
    const start = (serve: RequestServer) => {
      isWaiting = false;
      timer.cancel();
      socket.off('data', onData);
      background(this.#components.log, 'operator request', serve(socket, gone.signal));
    };
    socket
      .on('error', () => socket.destroy())
      .on('data', onData)
      .once('end', () => {
        // A client may half-close after its request; a disconnected one is noticed at the next write.
        if (!isWaiting) return;
        const serve = this.#serverOf(received, true);
        if (serve) start(serve);
        else socket.destroy();
      })
      .once('close', () => {
        timer.cancel();
        this.#sockets.delete(socket);
        gone.abort(new ProjectError('CLIENT_GONE', 'the client disconnected'));
      });
  }

  /** Undefined while the request is incomplete. `isLast` if the client cannot send more of it. */
  #serverOf(received: Buffer, isLast: boolean): RequestServer | undefined {
    const { agent } = this.#components;
    const state = agent ? agentRequestState(received) : 'other';
    if (state === 'incomplete' && !isLast) return undefined;
    if (agent && state !== 'other' && received.length >= AGENT_MAGIC.length)
      return (socket) => serveAgent(agent, socket, received, (text) => this.#end(socket, text));
    const end = received.indexOf('\n');
    if (end < 0 && received.length <= MAX_REQUEST_BYTES) return undefined;
    const line = end < 0 || end > MAX_REQUEST_BYTES ? undefined : received.toString('utf8', 0, end);
    return (socket, signal) => this.#answer(socket.resume(), line, signal);
  }

  async #answer(socket: Socket, line: string | undefined, signal: AbortSignal): Promise<void> {
    const progress = (value: unknown) => {
      if (!socket.destroyed && socket.writableLength < MAX_UNREAD_BYTES) socket.write(toLine({ progress: value }));
    };
    let answer: string;
    try {
      const { command, arguments: given } = readRequest(line);
      const serve = Object.hasOwn(this.#components.commands, command) ? this.#components.commands[command] : undefined;
      if (!serve) throw new ProjectError('UNKNOWN_COMMAND', `unknown command "${command}"`);
      answer = toLine({ result: (await serve({ arguments: given, signal, progress })) ?? null });
    } catch (error) {
      answer = toLine({ error: { code: errorCode(error) ?? 'FAILED', message: describeError(error) } });
    }
    this.#end(socket, answer);
  }

  /** Sends the last bytes of an answer. A client that does not read them and disconnect loses its connection. */
  #end(socket: Socket, answer: string): void {
    if (socket.destroyed) return;
    const timer = this.#components.clock.after('operator answer', READ_TIMEOUT, () => socket.destroy());
    socket.once('close', () => timer.cancel());
    socket.end(answer);
  }
}

function readRequest(line: string | undefined): { command: string; arguments: Readonly<Record<string, unknown>> } {
  if (line === undefined)
    throw new ProjectError('BAD_REQUEST', `a request must be one line of at most ${MAX_REQUEST_BYTES} bytes`);
  let request: unknown;
  try {
    request = parseJson(line);
  } catch (error) {
    throw new ProjectError('BAD_REQUEST', 'the request is not valid JSON', { cause: error });
  }
  const { command, arguments: given = {} } = (request ?? {}) as { command?: unknown; arguments?: unknown };
  if (typeof command !== 'string' || !isMap(given))
    throw new ProjectError('BAD_REQUEST', 'a request must have the form {"command": NAME, "arguments": {…}}');
  return { command, arguments: given };
}

function toLine(value: unknown): string {
  return `${JSON.stringify(value, (_key, each) => (typeof each === 'bigint' ? String(each) : each))}\n`;
}
