// The controller's single TLS port. ALPN selects HTTP or the control channel; clients without a protocol speak HTTP
// (reference fact: control channel, section 1.1).

import type { Log } from '#lib/log/log.ts';
import { listening } from '#lib/net/listening.ts';
import { Alpn, type SocketHandler, TlsPort } from '#wire/connection/tls-port.ts';
import type { Authority } from '../pki/authority.ts';

export interface ListenerOptions {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  readonly log: Log;
}

export class Listener {
  readonly #port: TlsPort;

  private constructor(port: TlsPort) {
    this.#port = port;
  }

  /** Binds the port so that its number is known. Requests are answered from `serve` on. Rejects with ListenError. */
  static async open(options: ListenerOptions, authority: Authority): Promise<Listener> {
    const { host, port } = options;
    const open = () => TlsPort.open({ ...options, context: authority.serverContext() });
    return new Listener(await listening({ key: 'the port of the controller', network: 'tcp', host, port }, open));
  }

  /** The bound port. */
  get port(): number {
    return this.#port.address.port;
  }

  serve(handlers: { http: SocketHandler; control: SocketHandler }): void {
    this.#port.handle(Alpn.Http, handlers.http);
    this.#port.handle(Alpn.None, handlers.http);
    this.#port.handle(Alpn.Control, handlers.control);
  }

  close(): Promise<void> {
    return this.#port.close();
  }
}
