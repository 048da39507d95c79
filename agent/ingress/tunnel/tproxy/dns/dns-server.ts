// The name server of tproxy mode: names of services get intercepted addresses; queries for other names are forwarded to
// upstream servers (reference fact: tunnel, section 3.8).

import { createSocket, type Socket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import { background } from '#lib/background.ts';
import { describeError } from '#lib/errors.ts';
import type { Log } from '#lib/log.ts';
import type { Unanswerable } from '../../../../config/name-servers.ts';
import { receiveDatagrams } from '../../../receive-datagrams.ts';
import {
  CLASS_INTERNET,
  type DnsQuery,
  DnsStatus,
  DnsType,
  encodeAnswer,
  encodeMalformed,
  parseQuery,
  truncateAnswer,
} from './dns-message.ts';
import type { DnsUpstreams } from './dns-upstreams.ts';

/** Resolves the names of services. */
export interface NameSource {
  /** Returns the address of a name; `full` if the name is known but no address is left; undefined if it is unknown. */
  resolve(name: string): string | 'full' | undefined;
}

export interface DnsServerComponents {
  log: Log;
  names: NameSource;
  upstreams: DnsUpstreams;
}

export interface DnsServerInit {
  readonly host: string;
  readonly port: number;
  /** The answer for names that no server resolves. */
  readonly unanswerable: Unanswerable;
}

export class DnsServer {
  readonly #components: DnsServerComponents;
  readonly #init: DnsServerInit;
  readonly #socket: Socket;
  /** Called for names of the resolver test; returns true for the name of a running test. */
  onProbe: (name: string) => boolean = () => false;
  #isClosed = false;

  private constructor(components: DnsServerComponents, init: DnsServerInit) {
    this.#components = components;
    this.#init = init;
    this.#socket = createSocket(isIPv6(init.host) ? 'udp6' : 'udp4');
  }

  /** Rejects with the system's error if the address is not available. */
  static async open(components: DnsServerComponents, init: DnsServerInit): Promise<DnsServer> {
    const server = new DnsServer(components, init);
    const socket = server.#socket;
    await new Promise<void>((resolve, reject) => {
      const fail = (error: Error) => (socket.close(), reject(error));
      socket.once('error', fail);
      socket.bind({ address: init.host, port: init.port }, () => (socket.off('error', fail), resolve()));
    });
    socket.on('error', (error) => components.log.error({ error: describeError(error) }, 'name server failed'));
    receiveDatagrams(socket, (message, { address, port }) => server.#onMessage(message, address, port));
    return server;
  }

  /** The actual port if the configured one is 0. */
  get port(): number {
    return this.#isClosed ? 0 : this.#socket.address().port;
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#components.upstreams.close();
    this.#socket.close();
  }

  #onMessage(message: Buffer, address: string, port: number): void {
    const query = parseQuery(message);
    if (query === undefined) return;
    const send = (answer: Buffer) => {
      if (!this.#isClosed) this.#socket.send(answer, port, address, () => undefined); // a client without an answer retries
    };
    if (query === 'malformed') send(encodeMalformed(message));
    else if (query.opcode !== 0) send(this.#answer(query, DnsStatus.NotImplemented));
    else this.#resolve(query, message, send);
  }

  #resolve(query: DnsQuery, message: Buffer, send: (answer: Buffer) => void): void {
    const isAddress = query.class === CLASS_INTERNET && (query.type === DnsType.A || query.type === DnsType.AAAA);
    if (!isAddress) {
      this.#reject(query, send);
      return;
    }
    if (this.onProbe(query.name)) {
      send(this.#answer(query, DnsStatus.NameError));
      return;
    }
    const address = this.#components.names.resolve(query.name);
    if (address === 'full') send(this.#answer(query, DnsStatus.ServerFailure));
    else if (address !== undefined) send(this.#answer(query, DnsStatus.Ok, query.type === DnsType.A ? [address] : []));
    else this.#askOthers(query, message, send);
  }

  #askOthers(query: DnsQuery, message: Buffer, send: (answer: Buffer) => void): void {
    const { upstreams, log } = this.#components;
    if (upstreams.isEmpty) {
      this.#reject(query, send);
      return;
    }
    background(log, 'dns question', async () => {
      const answer = await upstreams.resolve(query, message);
      if (answer) send(truncateAnswer(answer, query, message));
      else this.#reject(query, send);
    });
  }

  #reject(query: DnsQuery, send: (answer: Buffer) => void): void {
    const { unanswerable } = this.#init;
    if (unanswerable === 'timeout') return;
    send(this.#answer(query, unanswerable === 'servfail' ? DnsStatus.ServerFailure : DnsStatus.Refused));
  }

  #answer(query: DnsQuery, status: DnsStatus, addresses?: readonly string[]): Buffer {
    return encodeAnswer(query, {
      status,
      ...(addresses && { addresses, isAuthoritative: true }),
      isRecursive: !this.#components.upstreams.isEmpty,
    });
  }
}
