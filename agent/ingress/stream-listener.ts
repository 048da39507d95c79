// A TCP port whose connections become circuits. It accepts and bounds them; `serve` makes the circuit of one connection. A
// connection without a circuit is reset: an end would be an empty stream for the client.

import { createServer, type Socket } from 'node:net';
import { background } from '#lib/background.ts';
import { ClosedError, describeError } from '#lib/errors.ts';
import type { Log } from '#lib/log.ts';
import { Alpn, type TlsPort } from '#wire/tls-port.ts';

export interface StreamListenerComponents {
  log: Log;
  /** False while the router drains. */
  acceptsCircuits(): boolean;
}

/** Where to listen: a TCP port, a listening socket as a file descriptor, or a TLS port, of which clients without ALPN come here. */
export type StreamPlace =
  | { readonly host: string; readonly port: number }
  | { readonly fd: number }
  | { readonly tls: TlsPort };

export interface StreamListenerInit {
  /** Named in the log: the service, or what the port is for. */
  readonly name: string;
  readonly at: StreamPlace;
  /** Makes the circuit and attaches the socket to it. The signal aborts when the listener is closed. */
  serve(socket: Socket, signal: AbortSignal): Promise<void>;
}

/** Connections that wait for their circuit at once; further ones are reset. */
const MOST_WAITING = 1_000;

export class StreamListener {
  readonly #components: StreamListenerComponents;
  readonly #init: StreamListenerInit;
  readonly #abort = new AbortController();
  #port = 0;
  #stop: () => void = () => undefined;
  #waiting = 0;

  private constructor(components: StreamListenerComponents, init: StreamListenerInit) {
    this.#components = components;
    this.#init = init;
  }

  /** Rejects with the system's error when the port cannot be had, ProtocolTakenError when a TLS port is shared already. */
  static async open(components: StreamListenerComponents, init: StreamListenerInit): Promise<StreamListener> {
    const listener = new StreamListener(components, init);
    if ('tls' in init.at) listener.#handle(init.at.tls);
    else await listener.#listen(init.at);
    return listener;
  }

  /** The real port when 0 was asked for. */
  get port(): number {
    return this.#port;
  }

  /** Accepts no more; circuits that are open go on. */
  close(): void {
    this.#abort.abort(new ClosedError('the listener'));
    this.#stop();
  }

  async #listen(at: Exclude<StreamPlace, { tls: TlsPort }>): Promise<void> {
    const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket) => this.#onConnection(socket));
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(
        'fd' in at ? { fd: at.fd } : { host: at.host, port: at.port },
        () => (server.off('error', reject), resolve()),
      );
    });
    server.on('error', (error) =>
      this.#components.log.error({ listener: this.#init.name, error: describeError(error) }, 'listener failed'),
    );
    const address = server.address();
    this.#port = typeof address === 'object' && address ? address.port : 0;
    this.#stop = () => server.close();
  }

  #handle(port: TlsPort): void {
    this.#port = port.address.port;
    this.#stop = port.handle(Alpn.None, (socket) => {
      socket.allowHalfOpen = true;
      this.#onConnection(socket);
    });
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
