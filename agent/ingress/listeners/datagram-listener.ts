// A UDP port that opens one session, and so one circuit, per source address.

import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { describeError } from '#lib/errors.ts';
import { joinHostPort } from '#lib/net/address.ts';
import { sourceOf } from '#lib/net/source-address.ts';
import type { DatagramClient } from '../../xgress/clients/datagram-client.ts';
import type { IdleLimits } from '../../xgress/clients/idle-sweeper.ts';
import { DatagramSessions, type DatagramSessionsComponents } from './datagram-sessions.ts';
import { receiveDatagrams } from './receive-datagrams.ts';

export interface DatagramListenerInit {
  /** Name in the log: the service, or the purpose of the port. */
  readonly name: string;
  readonly host: string;
  readonly port: number;
  readonly family: 4 | 6;
  readonly limits: IdleLimits;
  /** Creates the circuit of a source. `first` holds its first datagram, which is not passed to the client. */
  serve(client: DatagramClient, source: DatagramSource, signal: AbortSignal): Promise<void>;
}

export interface DatagramSource {
  readonly host: string;
  readonly port: number;
  readonly first: Buffer;
  /** The port that received it. */
  readonly localPort: number;
  /** Sends a datagram to the source. */
  reply(data: Buffer): void;
}

export class DatagramListener {
  readonly #init: DatagramListenerInit;
  readonly #socket: Socket;
  readonly #sessions: DatagramSessions;
  #isClosing = false;
  #isClosed = false;

  private constructor(components: DatagramSessionsComponents, init: DatagramListenerInit) {
    this.#init = init;
    this.#socket = createSocket({ type: init.family === 6 ? 'udp6' : 'udp4', ipv6Only: init.family === 6 });
    this.#sessions = new DatagramSessions(components, init.name, init.limits);
  }

  /** Rejects with the system's error if the port is not available. */
  static async open(components: DatagramSessionsComponents, init: DatagramListenerInit): Promise<DatagramListener> {
    const listener = new DatagramListener(components, init);
    const socket = listener.#socket;
    await new Promise<void>((resolve, reject) => {
      const fail = (error: Error) => (socket.close(), reject(error));
      socket.once('error', fail);
      socket.bind({ port: init.port, address: init.host }, () => (socket.off('error', fail), resolve()));
    });
    socket.on('error', (error) =>
      components.log.error({ listener: init.name, error: describeError(error) }, 'listener failed'),
    );
    receiveDatagrams(socket, (data, source) => listener.#onMessage(data, source));
    return listener;
  }

  /** The actual port if the configured one is 0. */
  get port(): number {
    return this.#isClosed ? 0 : this.#socket.address().port;
  }

  get sessions(): number {
    return this.#sessions.size;
  }

  /** Accepts no further sessions. The socket stays open while sessions exist, because they receive through it. */
  close(): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    this.#sessions.close();
    this.#closeIfIdle();
  }

  /** Ends all sessions; the port is free then. */
  end(): void {
    this.close();
    this.#sessions.end();
    this.#closeIfIdle();
  }

  #onMessage(data: Buffer, { address, port }: RemoteInfo): void {
    const key = joinHostPort(address, port);
    const known = this.#sessions.get(key);
    if (known) {
      known.receive(data);
      return;
    }
    const reply = (answer: Buffer) => {
      if (!this.#isClosed) this.#socket.send(answer, port, address, () => undefined); // UDP does not guarantee delivery
    };
    this.#sessions.open({
      key,
      source: sourceOf(address),
      port: {
        send: (datagram, done) => this.#socket.send(datagram, port, address, done),
        close: () => setImmediate(() => this.#closeIfIdle()),
      },
      serve: (client, signal) =>
        this.#init.serve(client, { host: address, port, first: data, localPort: this.port, reply }, signal),
    });
  }

  #closeIfIdle(): void {
    if (!this.#isClosing || this.#isClosed || this.#sessions.size > 0) return;
    this.#isClosed = true;
    this.#socket.close();
  }
}
