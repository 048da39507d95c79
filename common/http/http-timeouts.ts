// Timeouts for the HTTP connections of a shared TLS port. node:http checks its own timeouts only if its server listens;
// ours never does, because it receives accepted connections. So each connection has its own timer here.
//
// A client may send requests before it has the answers to earlier ones (pipelining). They are served one after another:
// otherwise the answers to a client that does not read would fill the memory.
//
// An answer to a request whose body is not read ends the connection. Then the rest of the body is discarded for a short
// time: if the connection were reset, the client could fail to write the body before it reads the answer.
//
// Requests and upgrades of different sources take turns (fair-turns.ts). Those of connections on which nobody has
// proved who he is also share a small part of the time with other strangers (common/lib/net/unauthenticated-cpu.ts).
//
//   connection ─ read ─► headers ─ read ─► body ─► answer ─ idle ─► headers of the next request ─ …
//                           └───────── write ────────┘

import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { IoContext } from '#lib/net/io-context.ts';
import { sourceOf } from '#lib/net/source-address.ts';
import type { UnauthenticatedCpu } from '#lib/net/unauthenticated-cpu.ts';
import { FairTurns } from '#lib/queue/fair-turns.ts';
import type { Clock, Timer } from '#lib/time/clock.ts';
import { rejectBytes } from './reject-bytes.ts';

/** A connection that its port may close while it is idle, to make room for others. */
export interface Evictable {
  setEvictable(isEvictable: boolean): void;
}

/** The connection of a client: a socket, or a stream of its bytes. */
export interface HttpSocket extends Duplex {
  readonly remoteAddress?: string | undefined;
  readonly bytesRead: number;
  setNoDelay(isOn?: boolean): void;
  destroySoon(): void;
}

/** Milliseconds in which the rest of an unread body is discarded. */
const MAX_DISCARD_MS = 1_000;
/** Milliseconds between two checks of the bytes. */
const DISCARD_INTERVAL = 50;
/** Bytes of an unread body that are discarded, up to the next check. */
const MAX_DISCARDED_BYTES = 16 * 1024 * 1024;
/** Counted for a stranger's request, and for an upgrade with its frames, in addition to the time of its handler. */
const STRANGERS_REQUEST_MS = 0.2;
const STRANGERS_UPGRADE_MS = 1;
/** Requests of a connection that wait for the answer to an earlier one. */
const MAX_WAITING = 32;

type Serve = (request: IncomingMessage, response: ServerResponse) => void;
/**
 * `head`: bytes of the new protocol that have arrived with the request. `stream` is the connection, or what follows the
 * body of the request on it.
 */
type Upgrade = (request: IncomingMessage, stream: Duplex, head: Buffer) => void;

/** Milliseconds. */
export interface HttpLimits {
  /** For the headers of a request, and again for its body. */
  readonly read: number;
  /** From the headers of a request to the end of its answer. */
  readonly write: number;
  /** Between an answer and the next request. */
  readonly idle: number;
}

export class HttpTimeouts {
  readonly #server: Server;
  readonly #clock: Clock;
  readonly #unauthenticatedCpu: UnauthenticatedCpu;
  readonly #limits: HttpLimits;
  readonly #connections = new WeakMap<HttpSocket, HttpConnection>();
  readonly #turns: FairTurns;

  /** Calls `serve` for each request of the server, and `upgrade`, if any, for each upgrade. */
  constructor(
    server: Server,
    { clock, unauthenticatedCpu }: Pick<IoContext, 'clock' | 'unauthenticatedCpu'>,
    limits: HttpLimits,
    serve: Serve,
    upgrade?: Upgrade,
  ) {
    this.#server = server;
    this.#clock = clock;
    this.#unauthenticatedCpu = unauthenticatedCpu;
    this.#limits = limits;
    server.keepAliveTimeout = limits.idle; // it is announced to clients, and node:http enforces it as well
    server.on('clientError', rejectBytes);
    this.#turns = new FairTurns(() => clock.monotonic());
    server.on('request', (request, response) => {
      const { socket } = request;
      const inTurn = () => this.#inTurn(socket, () => serve(request, response), STRANGERS_REQUEST_MS);
      this.#connections.get(socket)?.accept(response, inTurn);
    });
    if (!upgrade) return;
    server.on('upgrade', (request, stream, head) =>
      this.#inTurn(request.socket, () => upgrade(request, stream, head), STRANGERS_UPGRADE_MS),
    );
  }

  #inTurn(socket: HttpSocket, serve: () => void, strangersCost: number): void {
    const start = () => void (socket.destroyed || serve());
    if (this.#unauthenticatedCpu.isAuthenticated(socket)) this.#turns.run(sourceOf(socket.remoteAddress), start);
    else this.#connections.get(socket)?.wait(this.#unauthenticatedCpu.run(socket, start, strangersCost));
  }

  /** The connection switched to another protocol, which has its own timeouts. */
  release(socket: HttpSocket): void {
    this.#connections.get(socket)?.release();
    this.#connections.delete(socket);
  }

  /** Passes a connection to the server and enforces the timeouts. Between requests it is evictable from its port. */
  accept(socket: HttpSocket, port?: Evictable): void {
    // As node:http does where it listens: without this, the end of an answer in several writes waits for the client's
    // delayed acknowledgement, up to 40 ms.
    socket.setNoDelay(true);
    this.#connections.set(socket, new HttpConnection(socket, this.#clock, this.#limits, port));
    this.#server.emit('connection', socket);
  }
}

class HttpConnection {
  readonly #socket: HttpSocket;
  readonly #clock: Clock;
  readonly #limits: HttpLimits;
  readonly #port: Evictable | undefined;
  /** The deadline of the client's next step. */
  #timer: Timer | undefined;
  #isServing = false;
  /** Serves requests that arrived before the answer to an earlier one was complete. */
  readonly #waiting: (() => void)[] = [];
  /** Prevents the request that waits for its turn. */
  #prevent: (() => boolean) | undefined;
  /** The last request. */
  #request: IncomingMessage | undefined;
  #isEnding = false;

  constructor(socket: HttpSocket, clock: Clock, limits: HttpLimits, port: Evictable | undefined) {
    this.#socket = socket;
    this.#port = port;
    this.#clock = clock;
    this.#limits = limits;
    socket.once('close', () => {
      this.#timer?.cancel();
      this.#prevent?.();
      this.#waiting.length = 0;
    });
    // node:http calls this after the last answer of a connection.
    const destroySoon = socket.destroySoon.bind(socket);
    socket.destroySoon = () => {
      if (this.#request?.complete !== false) return destroySoon();
      this.#discardRest();
      this.#request.once('end', destroySoon);
    };
    this.#expect('http read', limits.read);
    port?.setEvictable(true);
  }

  /** The request or upgrade waits for its turn, unless the connection is closed. */
  wait(prevent: () => boolean): void {
    this.#prevent = prevent;
  }

  release(): void {
    this.#timer?.cancel();
    this.#port?.setEvictable(false);
  }

  accept(response: ServerResponse, serve: () => void): void {
    this.#request = response.req;
    this.#port?.setEvictable(false);
    if (!this.#isServing) this.#exchange(response, serve);
    else if (this.#waiting.length < MAX_WAITING) this.#waiting.push(() => this.#exchange(response, serve));
    else this.#socket.destroy();
  }

  #exchange(response: ServerResponse, serve: () => void): void {
    const { read, write } = this.#limits;
    this.#isServing = true;
    this.#expect('http read', read);
    response.req.once('end', () => this.#isServing && !this.#isEnding && this.#timer?.cancel());
    const writing = this.#clock.after('http write', write, () => this.#socket.destroy());
    response.once('close', () => {
      writing.cancel();
      this.#isServing = false;
      const next = this.#waiting.shift();
      if (next) next();
      else if (!this.#isEnding) this.#rest();
    });
    serve();
  }

  /** The connection stays open until the client ends the body or the connection, or a limit is reached. */
  #discardRest(): void {
    this.#isEnding = true;
    this.#timer?.cancel();
    this.#port?.setEvictable(true);
    const max = this.#socket.bytesRead + MAX_DISCARDED_BYTES;
    let time = 0;
    this.#timer = this.#clock.every('http discard', DISCARD_INTERVAL, () => {
      time += DISCARD_INTERVAL;
      if (time >= MAX_DISCARD_MS || this.#socket.bytesRead > max) this.#socket.destroy();
    });
  }

  /** If bytes have arrived at the end of the idle time, the next request has begun. */
  #rest(): void {
    const { read, idle } = this.#limits;
    const before = this.#socket.bytesRead;
    this.#port?.setEvictable(true);
    this.#expect('http idle', idle, () => {
      if (this.#socket.bytesRead === before) this.#socket.destroy();
      else this.#expect('http read', read);
    });
  }

  #expect(name: string, milliseconds: number, orElse = () => void this.#socket.destroy()): void {
    this.#timer?.cancel();
    if (!this.#socket.destroyed) this.#timer = this.#clock.after(name, milliseconds, orElse);
  }
}
