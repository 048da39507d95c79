// A TCP port whose connections become circuits. It accepts and bounds them; `serve` makes the circuit of one connection. A
// connection without a circuit is reset: an end would be an empty stream for the client.

import { createServer, type Server, type Socket } from 'node:net';
import { background } from '#lib/background.ts';
import { ClosedError, describeError } from '#lib/errors.ts';
import type { Log } from '#lib/log.ts';

export interface StreamListenerComponents {
  log: Log;
  /** False while the router drains. */
  acceptsCircuits(): boolean;
}

export interface StreamListenerInit {
  /** Named in the log: the service, or what the port is for. */
  readonly name: string;
  /** Where to listen, or a listening socket as a file descriptor. */
  readonly at: { readonly host: string; readonly port: number } | { readonly fd: number };
  /** Makes the circuit and attaches the socket to it. The signal aborts when the listener is closed. */
  serve(socket: Socket, signal: AbortSignal): Promise<void>;
}

/** Connections that wait for their circuit at once; further ones are reset. */
const MOST_WAITING = 1_000;

export class StreamListener {
  readonly #components: StreamListenerComponents;
  readonly #init: StreamListenerInit;
  readonly #server: Server;
  readonly #abort = new AbortController();
  #waiting = 0;

  private constructor(components: StreamListenerComponents, init: StreamListenerInit) {
    this.#components = components;
    this.#init = init;
    this.#server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket) => this.#onConnection(socket));
  }

  /** Rejects with the system's error when the port cannot be had. */
  static async open(components: StreamListenerComponents, init: StreamListenerInit): Promise<StreamListener> {
    const listener = new StreamListener(components, init);
    const server = listener.#server;
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(init.at, () => (server.off('error', reject), resolve()));
    });
    server.on('error', (error) =>
      components.log.error({ listener: init.name, error: describeError(error) }, 'listener failed'),
    );
    return listener;
  }

  /** The real port when 0 was asked for. */
  get port(): number {
    const address = this.#server.address();
    return typeof address === 'object' && address ? address.port : 0;
  }

  /** Accepts no more; circuits that are open go on. */
  close(): void {
    this.#abort.abort(new ClosedError('the listener'));
    this.#server.close();
  }

  #onConnection(socket: Socket): void {
    const { log } = this.#components;
    const { name } = this.#init;
    socket.on('error', () => undefined); // reported by whoever owns the socket then; before a circuit is there nobody needs it
    if (!this.#components.acceptsCircuits() || this.#waiting >= MOST_WAITING) {
      log.warn({ listener: name, waiting: this.#waiting }, 'connection refused');
      socket.resetAndDestroy();
      return;
    }
    this.#waiting++;
    background(
      log,
      'connection of a listener',
      this.#init
        .serve(socket, this.#abort.signal)
        .catch((error: unknown) => {
          const { remoteAddress: remote } = socket;
          log.warn({ listener: name, remote, error: describeError(error) }, 'connection reset: no circuit');
          socket.resetAndDestroy();
        })
        .finally(() => {
          this.#waiting--;
        }),
    );
  }
}
