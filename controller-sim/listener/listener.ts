// The controller's single TLS port. ALPN selects HTTP or the control channel; clients without a protocol speak HTTP
// (reference fact: control channel, section 1.1). Other controllers and routers learn of the port while the controller
// starts: their connections, and those of early clients, wait until it serves.

import type { EventEmitter } from 'node:events';
import type { Log } from '#lib/log/log.ts';
import type { IoContext } from '#lib/net/io-context.ts';
import { listening } from '#lib/net/listening.ts';
import type { PortConnection } from '#wire/connection/port-connections.ts';
import { Alpn, type FrameProtocol, type StreamHandler, TlsPort } from '#wire/connection/tls-port.ts';
import type { Authority } from '../pki/authority.ts';

export interface ListenerOptions {
  readonly io: IoContext;
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  readonly log: Log;
}

interface Handlers {
  readonly http: StreamHandler;
  readonly control: FrameProtocol['accept'];
}

type Client = readonly [socket: EventEmitter, connection: PortConnection];

export class Listener {
  readonly #port: TlsPort;
  #handlers: Handlers | undefined;
  /** Connections that came too early, in their order. */
  readonly #waiting = new Set<(handlers: Handlers) => void>();

  private constructor(port: TlsPort) {
    this.#port = port;
    const http: StreamHandler = (...client) => this.#accept(client, (handlers) => handlers.http(...client));
    port.handle(Alpn.Http, http);
    port.handle(Alpn.None, http);
    port.handle(Alpn.Control, {
      accept: (...client) => this.#accept(client, (handlers) => handlers.control(...client)),
    });
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
  #accept([socket, connection]: Client, start: (handlers: Handlers) => void): void {
    if (this.#handlers) {
      start(this.#handlers);
      return;
    }
    connection.setEvictable(true);
    const startLater = (handlers: Handlers) => {
      connection.setEvictable(false);
      start(handlers);
    };
    this.#waiting.add(startLater);
    socket.once('close', () => this.#waiting.delete(startLater));
  }
}
