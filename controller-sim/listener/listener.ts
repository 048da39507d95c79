// The controller's single TLS port. ALPN selects HTTP or the control channel; clients without a protocol speak HTTP
// (reference fact: control channel, section 1.1). Other controllers and routers learn of the port while the controller
// starts: their connections, and those of early clients, wait until it serves.

import type { Log } from '#lib/log/log.ts';
import type { IoContext } from '#lib/net/io-context.ts';
import { listening } from '#lib/net/listening.ts';
import { Alpn, type SocketHandler, TlsPort } from '#wire/connection/tls-port.ts';
import type { Authority } from '../pki/authority.ts';

export interface ListenerOptions {
  readonly io: IoContext;
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  readonly log: Log;
}

interface Handlers {
  readonly http: SocketHandler;
  readonly control: SocketHandler;
}

export class Listener {
  readonly #port: TlsPort;
  #handlers: Handlers | undefined;
  /** Connections that came too early, in their order. */
  readonly #waiting = new Set<(handlers: Handlers) => void>();

  private constructor(port: TlsPort) {
    this.#port = port;
    port.handle(Alpn.Http, this.#handlerOf('http'));
    port.handle(Alpn.None, this.#handlerOf('http'));
    port.handle(Alpn.Control, this.#handlerOf('control'));
  }

  /** Binds the port so that its number is known. Connections wait until `serve`. Rejects with ListenError. */
  static async open(options: ListenerOptions, authority: Pick<Authority, 'serverContext'>): Promise<Listener> {
    const { host, port } = options;
    const open = () => TlsPort.open({ ...options, context: authority.serverContext() });
    return new Listener(await listening({ key: 'the port of the controller', network: 'tcp', host, port }, open));
  }

  /** The bound port. */
  get port(): number {
    return this.#port.address.port;
  }

  serve(handlers: Handlers): void {
    this.#handlers = handlers;
    for (const start of this.#waiting) start(handlers);
    this.#waiting.clear();
  }

  close(): Promise<void> {
    return this.#port.close();
  }

  /** The limits of the port evict connections that wait first. */
  #handlerOf(protocol: keyof Handlers): SocketHandler {
    return (socket, connection) => {
      if (this.#handlers) {
        this.#handlers[protocol](socket, connection);
        return;
      }
      connection.setEvictable(true);
      const start = (handlers: Handlers) => {
        connection.setEvictable(false);
        handlers[protocol](socket, connection);
      };
      this.#waiting.add(start);
      socket.once('close', () => this.#waiting.delete(start));
    };
  }
}
