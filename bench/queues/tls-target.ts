// A TLS listener on loopback, and dials like those of a link dialer: TCP, handshake, verified certificate, close.

import { SystemClock } from '#lib/clock.ts';
import { IdSource } from '#lib/ids.ts';
import { silentLog } from '#lib/log.ts';
import { dialTls } from '#wire/dial.ts';
import { Alpn, TlsPort } from '#wire/tls-port.ts';
import { Authority } from '../../controller-sim/pki/authority.ts';
import { State } from '../../controller-sim/state/state.ts';
import { MemoryStore } from '../../controller-sim/state/store/memory-store.ts';

const DIAL_TIMEOUT = 10_000;

export class TlsTarget {
  readonly #port: TlsPort;
  readonly #ca: string;
  readonly #clock = new SystemClock();

  private constructor(port: TlsPort, ca: string) {
    this.#port = port;
    this.#ca = ca;
  }

  static async open(): Promise<TlsTarget> {
    const clock = new SystemClock();
    const state = await State.open({ store: new MemoryStore(), clock, ids: new IdSource() });
    const authority = await Authority.open({ state, clock }, ['127.0.0.1']);
    const port = await TlsPort.open({ host: '127.0.0.1', port: 0, context: authority.serverContext(), log: silentLog });
    port.handle(Alpn.Link, (socket) => socket.end());
    return new TlsTarget(port, authority.bundle);
  }

  async dial(): Promise<void> {
    const socket = await dialTls({
      address: { type: 'tls', host: '127.0.0.1', port: this.#port.address.port },
      alpn: [Alpn.Link],
      context: { ca: this.#ca },
      timeout: DIAL_TIMEOUT,
      clock: this.#clock,
      signal: AbortSignal.timeout(DIAL_TIMEOUT),
    });
    socket.destroy();
  }

  close(): Promise<void> {
    return this.#port.close();
  }
}
