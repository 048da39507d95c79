// A TLS listener on loopback, and dials like those of a link dialer: TCP, handshake, verified certificate, close.

import { once } from 'node:events';
import type { TLSSocket } from 'node:tls';
import { IdSource } from '#lib/ids.ts';
import { silentLog } from '#lib/log/log.ts';
import { IoContext } from '#lib/net/io-context.ts';
import { SystemClock } from '#lib/time/clock.ts';
import { dialTls } from '#wire/connection/dial.ts';
import { Alpn, TlsPort } from '#wire/connection/tls-port.ts';
import { Authority } from '../../controller-sim/pki/authority.ts';
import { State } from '../../controller-sim/state/state.ts';
import { MemoryStore } from '../../controller-sim/state/store/memory-store.ts';

const DIAL_TIMEOUT = 10_000;

export interface TlsTargetAddress {
  readonly port: number;
  /** Certificates in PEM. */
  readonly ca: string;
}

export class TlsTarget {
  readonly address: TlsTargetAddress;
  readonly #port: TlsPort;
  readonly #dialer: TlsDialer;

  private constructor(port: TlsPort, ca: string) {
    this.#port = port;
    this.address = { port: port.address.port, ca };
    this.#dialer = new TlsDialer(this.address);
  }

  /** @param answerTime Milliseconds between the handshake and the end of the connection. */
  static async open(answerTime = 0): Promise<TlsTarget> {
    const clock = new SystemClock();
    const state = await State.open({ store: new MemoryStore(), clock, ids: new IdSource() });
    const authority = await Authority.open({ state, clock }, ['127.0.0.1']);
    const port = await TlsPort.open({
      io: new IoContext({ clock }),
      host: '127.0.0.1',
      port: 0,
      context: authority.serverContext(),
      log: silentLog,
    });
    port.handle(Alpn.Link, (socket) => {
      if (answerTime === 0) socket.end();
      else setTimeout(() => socket.end(), answerTime);
    });
    return new TlsTarget(port, authority.bundle);
  }

  async dial(): Promise<void> {
    (await this.#dialer.dial()).destroy();
  }

  close(): Promise<void> {
    return this.#port.close();
  }
}

export class TlsDialer {
  readonly #address: TlsTargetAddress;
  readonly #clock = new SystemClock();

  constructor(address: TlsTargetAddress) {
    this.#address = address;
  }

  dial(): Promise<TLSSocket> {
    const { port, ca } = this.#address;
    return dialTls({
      address: { type: 'tls', host: '127.0.0.1', port },
      alpn: [Alpn.Link],
      context: { ca },
      timeout: DIAL_TIMEOUT,
      clock: this.#clock,
      signal: AbortSignal.timeout(DIAL_TIMEOUT),
    });
  }

  /** Resolves when the server ends the connection. */
  async dialAndWait(): Promise<void> {
    const socket = await this.dial();
    const ended = once(socket, 'close');
    socket.resume();
    socket.once('error', () => undefined); // 'close' follows
    await ended;
  }
}
