// The name server of tproxy mode: names of services get intercepted addresses; queries for other names are forwarded to
// upstream servers (reference fact: tunnel, section 3.8).

import { createSocket, type Socket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import { background } from '#lib/background.ts';
import { describeError } from '#lib/errors.ts';
import type { Log } from '#lib/log/log.ts';
import type { IoContext } from '#lib/net/io-context.ts';
import { sourceOf } from '#lib/net/source-address.ts';
import type { Unanswerable } from '../../../../config/name-servers.ts';
import { receiveDatagrams } from '../../../listeners/receive-datagrams.ts';
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
import { DnsStreams } from './dns-streams.ts';
import type { DnsUpstreams, QueryOrigin } from './dns-upstreams.ts';

/** Resolves the names of services. */
export interface NameSource {
  /**
   * Returns the address of a name; `full` if the name is known but no address is left for this source; `missing` for
   * the name of a running resolver test; undefined if it is unknown.
   */
  resolve(name: string, source: string): string | 'full' | 'missing' | undefined;
}

export interface DnsServerComponents {
  io: IoContext;
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
  #streams: DnsStreams | undefined;
  #isClosed = false;

  private constructor(components: DnsServerComponents, init: DnsServerInit) {
    this.#components = components;
    this.#init = init;
    this.#socket = createSocket(isIPv6(init.host) ? 'udp6' : 'udp4');
  }

  /** Opens the server over UDP. Rejects with the system's error if the address is not available. */
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

  /** Accepts queries over TCP too, on the same port. Rejects with the system's error if it is not available. */
  async openStreams(): Promise<void> {
    const { io, log } = this.#components;
    const answer = (message: Buffer, source: string) => this.#answerTo(message, { source, isStream: true });
    this.#streams = await DnsStreams.open({ io, log, answer }, { host: this.#init.host, port: this.port });
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
    this.#streams?.close();
  }

  #onMessage(message: Buffer, address: string, port: number): void {
    background(this.#components.log, 'dns question', async () => {
      const answer = await this.#answerTo(message, { source: sourceOf(address), isStream: false });
      // A client without an answer retries.
      if (answer && !this.#isClosed) this.#socket.send(answer, port, address, () => undefined);
    });
  }

  /** The answer to a message; undefined if it gets none. A datagram has a limited size, unlike a stream. */
  async #answerTo(message: Buffer, origin: Required<QueryOrigin>): Promise<Buffer | undefined> {
    const query = parseQuery(message);
    if (query === undefined) return undefined;
    if (query === 'malformed') return encodeMalformed(message);
    if (query.opcode !== 0) return this.#answer(query, DnsStatus.NotImplemented);
    const isAddress = query.class === CLASS_INTERNET && (query.type === DnsType.A || query.type === DnsType.AAAA);
    if (!isAddress) return this.#rejection(query);
    const address = this.#components.names.resolve(query.name, origin.source);
    if (address === 'missing') return this.#answer(query, DnsStatus.NameError);
    if (address === 'full') return this.#answer(query, DnsStatus.ServerFailure);
    if (address !== undefined) return this.#answer(query, DnsStatus.Ok, query.type === DnsType.A ? [address] : []);
    const answer = await this.#components.upstreams.resolve(query, message, origin);
    if (!answer) return this.#rejection(query);
    return origin.isStream ? answer : truncateAnswer(answer, query, message);
  }

  #rejection(query: DnsQuery): Buffer | undefined {
    const { unanswerable } = this.#init;
    if (unanswerable === 'timeout') return undefined;
    return this.#answer(query, unanswerable === 'servfail' ? DnsStatus.ServerFailure : DnsStatus.Refused);
  }

  #answer(query: DnsQuery, status: DnsStatus, addresses?: readonly string[]): Buffer {
    return encodeAnswer(query, {
      status,
      ...(addresses && { addresses, isAuthoritative: true }),
      isRecursive: !this.#components.upstreams.isEmpty,
    });
  }
}
