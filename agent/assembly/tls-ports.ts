// The TLS ports of the router. Listeners with the same `host:port` share a port; ALPN distinguishes them.

import { joinHostPort } from '#lib/address.ts';
import type { Log } from '#lib/log.ts';
import { TlsPort } from '#wire/tls-port.ts';
import type { Identity } from '../identity/identity.ts';

export interface TlsPortsInit {
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
  readonly #stopWatching: (() => void)[] = [];

  constructor(init: TlsPortsInit) {
    this.#init = init;
  }

  /** Returns the port at `host:port`; the first caller opens it. Rejects with the system's error. */
  async at(
    host: string,
    port: number,
    { requestCert = true, identity = this.#init.identity }: TlsPortUse = {},
  ): Promise<TlsPort> {
    const key = joinHostPort(host, port);
    const known = this.#ports.get(key);
    if (known) return known;
    const { log, handshakeTimeout } = this.#init;
    const opened = await TlsPort.open({
      host,
      port,
      context: identity.serverContext(),
      contextFor: (name) => identity.contextFor(name),
      requestCert,
      handshakeTimeout,
      log,
    });
    this.#ports.set(key, opened);
    this.#stopWatching.push(identity.onChange(() => opened.replaceContext(identity.serverContext())));
    return opened;
  }

  async close(): Promise<void> {
    for (const stop of this.#stopWatching) stop();
    await Promise.all([...this.#ports.values()].map((port) => port.close()));
  }
}
