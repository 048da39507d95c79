// The upstream name servers for other names than those of services. Each query uses its own socket, so that attackers
// cannot guess its port (reference fact: tunnel, section 3.8).

import { createSocket } from 'node:dgram';
import { connect, isIPv6 } from 'node:net';
import { ProjectError, TimeoutError } from '#lib/errors.ts';
import { type ClientSockets, NO_DESCRIPTOR } from '#lib/net/client-sockets.ts';
import type { IoContext } from '#lib/net/io-context.ts';
import { WorkSlots } from '#lib/queue/fair-slots.ts';
import type { Random } from '#lib/random.ts';
import { onAbort } from '#lib/time/abort.ts';
import type { Upstream } from '../../../../config/name-servers.ts';
import { type DnsQuery, DnsStatus, isTruncated, statusOfAnswer } from './dns-message.ts';

export type UpstreamMode = 'parallel' | 'serial' | 'failover' | 'random';

/** A query of a client. */
interface Question {
  readonly query: DnsQuery;
  readonly message: Buffer;
  /** The client accepts answers of any size. */
  readonly isStream: boolean;
  /** Aborts if another client displaces the query. */
  readonly displaced: AbortSignal;
}

/** The client of a query. */
export interface QueryOrigin {
  /** Its source, for shares. */
  readonly source?: string;
  /** It accepts answers of any size. */
  readonly isStream?: boolean;
}

type UpstreamIo = Pick<IoContext, 'clock' | 'clientSockets'>;

/** A query to one server, with a socket of its own. */
interface UpstreamDial {
  readonly upstream: Upstream;
  readonly signal: AbortSignal;
  readonly clientSockets: ClientSockets;
}

interface Reply {
  readonly message: Buffer;
  readonly status: number;
}

/** Milliseconds for one server to answer. */
const UPSTREAM_TIMEOUT = 5_000;
/**
 * Parallel upstream queries, each with a socket. Beyond them, a source with fewer queries displaces the oldest of the
 * source with most; other queries count as unanswerable.
 */
const MAX_QUESTIONS = 256;
/** Bytes of an answer over TCP. */
const MAX_ANSWER_BYTES = 65_535;
/** Order of answers, best first; among failures, "unknown name" ranks highest. */
const RANKS: readonly number[] = [DnsStatus.Ok, DnsStatus.NameError, DnsStatus.ServerFailure, DnsStatus.Refused];

export class DnsUpstreams {
  readonly #io: UpstreamIo;
  readonly #random: Random;
  readonly #upstreams: readonly Upstream[];
  readonly #mode: UpstreamMode;
  readonly #abort = new AbortController();
  /** Index of the first server for `failover`. */
  #lastGood = 0;
  readonly #questions: WorkSlots;

  constructor(components: { io: UpstreamIo; random: Random }, upstreams: readonly Upstream[], mode: UpstreamMode) {
    this.#io = components.io;
    this.#random = components.random;
    this.#upstreams = upstreams;
    this.#mode = mode;
    const sockets = mode === 'parallel' ? Math.max(1, upstreams.length) : 1;
    const max = Math.max(1, Math.floor(MAX_QUESTIONS / sockets));
    this.#questions = new WorkSlots(max, displaced);
  }

  get isEmpty(): boolean {
    return this.#upstreams.length === 0;
  }

  /**
   * The best answer of the servers, with the query's id; undefined if none answers. With `isStream`, an answer that a
   * server truncates is requested again over TCP.
   */
  async resolve(
    query: DnsQuery,
    message: Buffer,
    { source = '', isStream = false }: QueryOrigin = {},
  ): Promise<Buffer | undefined> {
    const slot = this.isEmpty || this.#abort.signal.aborted ? undefined : this.#questions.take(source);
    if (!slot) return undefined;
    const question: Question = { query, message, isStream, displaced: slot.displaced };
    try {
      const replies = this.#mode === 'parallel' ? await this.#askAll(question) : await this.#askInTurn(question);
      return replies.sort((a, b) => rankOf(a) - rankOf(b))[0]?.message;
    } finally {
      slot.release();
    }
  }

  /** Aborts the open queries. */
  close(): void {
    this.#abort.abort(new ProjectError('CLOSED', 'the name server was closed'));
  }

  async #askAll(question: Question): Promise<Reply[]> {
    const replies: Reply[] = [];
    const rest = new AbortController();
    await new Promise<void>((resolve) => {
      let open = this.#upstreams.length;
      for (const upstream of this.#upstreams) {
        this.#ask(upstream, question, rest.signal)
          .then((reply) => {
            replies.push(reply);
            if (reply.status === DnsStatus.Ok) resolve();
          })
          .catch(() => undefined) // the other servers may still answer
          .finally(() => {
            open -= 1;
            if (open === 0) resolve();
          });
      }
    });
    rest.abort(new ProjectError('DNS_ANSWERED', 'another server has answered'));
    return replies;
  }

  async #askInTurn(question: Question): Promise<Reply[]> {
    const replies: Reply[] = [];
    const count = this.#upstreams.length;
    const start = this.#firstOfTurn(count);
    for (let turn = 0; turn < count; turn++) {
      const index = (start + turn) % count;
      const upstream = this.#upstreams[index];
      if (!upstream || this.#abort.signal.aborted || question.displaced.aborted) break;
      try {
        const reply = await this.#ask(upstream, question, this.#abort.signal);
        replies.push(reply);
        if (reply.status !== DnsStatus.Ok) continue;
        this.#lastGood = index;
        break;
      } catch {
        // the next server is asked
      }
    }
    return replies;
  }

  #firstOfTurn(count: number): number {
    if (this.#mode === 'failover') return this.#lastGood;
    return this.#mode === 'random' ? Math.floor(this.#random.next() * count) : 0;
  }

  /** Uses a random id: an id chosen by the client would be known to others. */
  async #ask(
    upstream: Upstream,
    { query, message, isStream, displaced }: Question,
    signal: AbortSignal,
  ): Promise<Reply> {
    const id = this.#random.bytes(2).readUInt16BE();
    const asked = Buffer.from(message);
    asked.writeUInt16BE(id, 0);
    const late = this.#io.clock.deadline(
      'dns upstream',
      UPSTREAM_TIMEOUT,
      () => new TimeoutError('the name server', UPSTREAM_TIMEOUT),
    );
    const either = AbortSignal.any([signal, displaced, this.#abort.signal, late.signal]);
    const dial = { upstream, signal: either, clientSockets: this.#io.clientSockets };
    try {
      const ask = upstream.protocol === 'udp' ? askOverUdp : askOverTcp;
      let reply = await ask(dial, { ...query, id }, asked);
      if (isStream && ask === askOverUdp && isTruncated(reply.message))
        reply = await askOverTcp(dial, { ...query, id }, asked).catch(() => reply); // better than none
      reply.message.writeUInt16BE(query.id, 0);
      return reply;
    } finally {
      late.timer.cancel();
    }
  }
}

/** Unknown statuses rank last. */
function rankOf({ status }: Reply): number {
  const rank = RANKS.indexOf(status);
  return rank < 0 ? RANKS.length : rank;
}

function displaced(): ProjectError {
  return new ProjectError('DNS_DISPLACED', 'queries of other clients displaced the query');
}

function noDescriptor(): ProjectError {
  return new ProjectError('DNS_UPSTREAM', NO_DESCRIPTOR);
}

function askOverUdp(dial: UpstreamDial, query: DnsQuery, message: Buffer): Promise<Reply> {
  const {
    upstream: { host, port },
    signal,
    clientSockets,
  } = dial;
  return new Promise((resolve, reject) => {
    const socket = createSocket(isIPv6(host) ? 'udp6' : 'udp4');
    const isAdmitted = clientSockets.admit(socket);
    let isOver = false;
    const finish = () => {
      if (isOver) return;
      isOver = true;
      ended();
      socket.close();
    };
    const fail = (error: Error) => (finish(), reject(error));
    const ended = onAbort(signal, fail);
    socket.on('error', fail);
    socket.on('message', (answer) => {
      const status = statusOfAnswer(answer, query);
      if (status !== undefined) finish(), resolve({ message: Buffer.from(answer), status });
    });
    socket.once('connect', () => {
      if (!isOver) socket.send(message, (error) => error && fail(error));
    });
    if (!isAdmitted) {
      fail(noDescriptor());
      return;
    }
    socket.connect(port, host); // without a callback, a failure is an 'error' event
  });
}

function askOverTcp(dial: UpstreamDial, query: DnsQuery, message: Buffer): Promise<Reply> {
  const {
    upstream: { host, port },
    signal,
    clientSockets,
  } = dial;
  return new Promise((resolve, reject) => {
    let read: Buffer = Buffer.alloc(0);
    const socket = connect({ host, port });
    const isAdmitted = clientSockets.admit(socket);
    const finish = () => {
      ended();
      socket.on('error', () => undefined); // the answer was handled
      socket.destroy();
    };
    const fail = (error: Error) => (finish(), reject(error));
    const ended = onAbort(signal, fail);
    socket.once('error', fail);
    socket.once('end', () => fail(new ProjectError('DNS_UPSTREAM', 'the name server closed the connection')));
    socket.on('data', (data: Buffer) => {
      read = Buffer.concat([read, data]);
      const length = read.length < 2 ? MAX_ANSWER_BYTES : read.readUInt16BE(0);
      if (read.length < 2 + length) return;
      const answer = read.subarray(2, 2 + length);
      const status = statusOfAnswer(answer, query);
      if (status === undefined)
        fail(new ProjectError('DNS_UPSTREAM', 'the name server sent an answer to another query'));
      else finish(), resolve({ message: Buffer.from(answer), status });
    });
    if (!isAdmitted) {
      fail(noDescriptor());
      return;
    }
    const length = Buffer.alloc(2);
    length.writeUInt16BE(message.length);
    socket.write(Buffer.concat([length, message]));
  });
}
