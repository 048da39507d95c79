// The TLS ports of the router. Listeners with the same `host:port` share a port; ALPN distinguishes them.

import type { Log } from '#lib/log/log.ts';
import { joinHostPort } from '#lib/net/address.ts';
import type { IoContext } from '#lib/net/io-context.ts';
import { TlsPort } from '#wire/connection/tls-port.ts';
import type { Identity } from '../identity/identity.ts';

export interface TlsPortsInit {
  io: IoContext;
  identity: Identity;
  log: Log;
  /** Milliseconds for a TLS handshake. */
  handshakeTimeout: number;
}

/** Settings of the first listener of a port. */
export interface TlsPortUse {
  /** Whether clients are asked for a certificate. */
  requestCert?: boolean;
  /** Used instead of the router's identity. */
  identity?: Identity;
}

export class TlsPorts {
  readonly #init: TlsPortsInit;
  readonly #ports = new Map<string, TlsPort>();
  /** Ends that a port follows its identity, by its key. */
  readonly #stopWatching = new Map<string, () => void>();
  /** Closed ports whose last connections are still open. */
  readonly #closing = new Map<TlsPort, Promise<void>>();

  constructor(init: TlsPortsInit) {
    this.#init = init;
  }

  /**
   * Returns the port at `host:port`; the first caller opens it. Port 0: each caller gets a port of its own. Rejects
   * with the system's error.
   */
  async at(
    host: string,
    port: number,
    { requestCert = true, identity = this.#init.identity }: TlsPortUse = {},
  ): Promise<TlsPort> {
    const known = this.opened(host, port);
    if (known) return known;
    const { io, log, handshakeTimeout } = this.#init;
    const opened = await TlsPort.open({
      io,
      host,
      port,
      context: identity.serverContexts(),
      requestCert,
      handshakeTimeout,
      log,
    });
    const key = joinHostPort(host, opened.address.port);
    this.#ports.set(key, opened);
    this.#stopWatching.set(
      key,
      identity.onChange(() => opened.replaceContext(identity.serverContexts())),
    );
    return opened;
  }

  /** The port that another listener opened at `host:port`. */
  opened(host: string, port: number): TlsPort | undefined {
    return port === 0 ? undefined : this.#ports.get(joinHostPort(host, port));
  }

  /** Closes the ports without a listener; their open connections stay. */
  closeUnused(): void {
    for (const [key, port] of this.#ports) if (!port.isUsed) this.#close(key, port, { keepsHandled: true });
  }

  async close(): Promise<void> {
    for (const [key, port] of this.#ports) this.#close(key, port);
    const closing = [...this.#closing];
    await Promise.all(closing.flatMap(([port, closed]) => [closed, port.close()]));
  }

  #close(key: string, port: TlsPort, options: { keepsHandled?: boolean } = {}): void {
    this.#stopWatching.get(key)?.();
    this.#stopWatching.delete(key);
    this.#ports.delete(key);
    const closed = port.close(options).finally(() => this.#closing.delete(port));
    this.#closing.set(port, closed);
  }
}
