// The TLS ports of the router. Listeners that write the same `host:port` share one, told apart by ALPN.

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

export class TlsPorts {
  readonly #init: TlsPortsInit;
  readonly #ports = new Map<string, TlsPort>();
  readonly #unsubscribe: () => void;

  constructor(init: TlsPortsInit) {
    this.#init = init;
    this.#unsubscribe = init.identity.onChange(() => {
      for (const port of this.#ports.values()) port.replaceContext(init.identity.serverContext());
    });
  }

  /** The port at `host:port`, opened with the router's identity by the first who asks. Rejects with the system's error. */
  async at(host: string, port: number): Promise<TlsPort> {
    const key = joinHostPort(host, port);
    const known = this.#ports.get(key);
    if (known) return known;
    const { identity, log, handshakeTimeout } = this.#init;
    const opened = await TlsPort.open({
      host,
      port,
      context: identity.serverContext(),
      contextFor: (name) => identity.contextFor(name),
      handshakeTimeout,
      log,
    });
    this.#ports.set(key, opened);
    return opened;
  }

  async close(): Promise<void> {
    this.#unsubscribe();
    await Promise.all([...this.#ports.values()].map((port) => port.close()));
  }
}
