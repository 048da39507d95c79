// A TCP port whose connections become circuits. It accepts and limits connections; `serve` creates a circuit for each.
// A connection without a circuit is reset: a normal end would look like an empty stream to the client.

import { createServer } from 'node:net';
import { background } from '#lib/background.ts';
import { ClosedError, describeError } from '#lib/errors.ts';
import type { Log } from '#lib/log/log.ts';
import type { IoContext } from '#lib/net/io-context.ts';
import { resetSocket } from '#lib/net/reset-socket.ts';
import { sourceOf } from '#lib/net/source-address.ts';
import { Alpn, type TlsPort } from '#wire/connection/tls-port.ts';
import type { ClientSocket } from '../../xgress/clients/socket-client.ts';
import { waitingClients } from './waiting-clients.ts';

export interface StreamListenerComponents {
  io: IoContext;
  log: Log;
  /** False while the router drains. */
  acceptsCircuits(): boolean;
}

/** Where to listen: a TCP port, a listening socket as a file descriptor, or a TLS port (clients without ALPN). */
export type StreamPlace =
  | { readonly host: string; readonly port: number }
  | { readonly fd: number }
  | { readonly tls: TlsPort };

export interface StreamListenerInit {
  /** Name in the log: the service, or the purpose of the port. */
  readonly name: string;
  readonly at: StreamPlace;
  /**
   * Creates the circuit and attaches the socket to it. The signal aborts when the listener closes, or when others
   * displace the connection; `reset` closes the connection with a TCP reset.
   */
  serve(socket: ClientSocket, signal: AbortSignal, reset: () => void): Promise<void>;
}

export class StreamListener {
  readonly #components: StreamListenerComponents;
  readonly #init: StreamListenerInit;
  readonly #abort = new AbortController();
  #port = 0;
  #stop: (() => void) | undefined;
  readonly #waiting = waitingClients();

  private constructor(components: StreamListenerComponents, init: StreamListenerInit) {
    this.#components = components;
    this.#init = init;
  }

  /**
   * Rejects with the system's error if the port is not available, or with ProtocolTakenError if a TLS port is already
   * shared.
   */
  static async open(components: StreamListenerComponents, init: StreamListenerInit): Promise<StreamListener> {
    const listener = new StreamListener(components, init);
    if ('tls' in init.at) listener.#handle(init.at.tls);
    else await listener.#listen(init.at);
    return listener;
  }

  /** The actual port if the configured one is 0. */
  get port(): number {
    return this.#port;
  }

  /** Stops accepting; open circuits stay. */
  close(): void {
    this.#abort.abort(new ClosedError('the listener'));
    this.#stop?.();
  }

  async #listen(at: Exclude<StreamPlace, { tls: TlsPort }>): Promise<void> {
    const { clientSockets } = this.#components.io;
    const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket) => {
      if (clientSockets.admit(socket)) this.#onConnection(socket, () => resetSocket(socket));
      else resetSocket(socket);
    });
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
    this.#stop = port.handle(Alpn.None, (socket, { reset }) => {
      socket.allowHalfOpen = true;
      this.#onConnection(socket, reset);
    });
  }

  #onConnection(socket: ClientSocket, reset: () => void): void {
    const { io, log } = this.#components;
    const { name } = this.#init;
    socket.on('error', () => undefined); // the later owner of the socket reports errors; earlier ones need no report
    const isServing = this.#components.acceptsCircuits();
    const place = isServing ? this.#waiting.take(sourceOf(socket.remoteAddress)) : undefined;
    if (!place) {
      const cause = isServing ? 'too many connections wait for a circuit' : 'the router is draining';
      log.warn({ listener: name, waiting: this.#waiting.size }, `connection reset: ${cause}`);
      reset();
      return;
    }
    background(
      log,
      'connection of a listener',
      this.#init
        .serve(socket, AbortSignal.any([this.#abort.signal, place.displaced]), reset)
        .then(() => io.unauthenticatedCpu.accept(socket))
        .catch((error: unknown) => {
          const { remoteAddress: remote } = socket;
          log.warn({ listener: name, remote, error: describeError(error) }, 'connection reset: no circuit');
          reset();
        })
        .finally(() => place.release()),
    );
  }
}
