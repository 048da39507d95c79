// The listening side of channels: hello, connection check, grouping of several connections into one channel.
//
//   socket ─► hello ─► check ─┬─ not grouped ──────────► separate channel
//                             ├─ grouped, first ───────► new channel, id and secret stored
//                             └─ grouped, not first ───► joins the channel with that id, if it has the secret
//
// Facts: control channel sections 1.5 to 1.7, link section 1.4. It does not know the purpose of a channel: the owner
// checks the peer, creates the channel and sets its handlers.

import { timingSafeEqual } from 'node:crypto';
import type { Socket } from 'node:net';
import { ClosedError, describeError } from '#lib/errors.ts';
import { IdSource } from '#lib/ids.ts';
import type { Log } from '#lib/log/log.ts';
import type { IoContext } from '#lib/net/io-context.ts';
import { sourceOf } from '#lib/net/source-address.ts';
import { FairSlots } from '#lib/queue/fair-slots.ts';
import { type Random, systemRandom } from '#lib/random.ts';
import { WrongMagicError } from '../connection/frame-reader.ts';
import { networkOf, type TlsConnection } from '../connection/threads/threaded-tls.ts';
import { Underlay } from '../connection/underlay.ts';
import { HelloRejectedError } from '../errors.ts';
import { ChannelHeader } from '../gen/numbers.ts';
import { TRUE } from '../header-values.ts';
import type { HeaderEntries, Message } from '../message.ts';
import type { Channel } from './channel.ts';
import { acceptHello, readHello } from './hello.ts';

export interface AcceptedHello {
  readonly hello: Message;
  readonly socket: TlsConnection;
  /** `10.0.0.1:40000` */
  readonly remoteAddress: string;
  /** Its address without the port. */
  readonly remoteHost: string;
  readonly connectionId: string;
  readonly grouped: boolean;
  /** False for a further connection of an existing group. */
  readonly newChannel: boolean;
}

export interface ChannelListenerOptions {
  /** Id for header 8. */
  id: string;
  io: IoContext;
  log: Log;
  random?: Random;
  /** Milliseconds for the hello. */
  helloTimeout: number;
  /** Limit on hellos in progress; beyond it, connections are evicted: see `#slots`. */
  maxHellos: number;
  /** Called when a hello begins; the returned function is called when it ends. */
  onHello?: (() => () => void) | undefined;
  /** Throws to reject; the dialer then sees its connection closed without an answer. */
  check(accepted: AcceptedHello): Promise<void> | void;
  /** Headers of the positive answer in addition to those of the channel layer. */
  answerHeaders?(accepted: AcceptedHello): HeaderEntries;
  /** A connection ended before it was part of a channel; `hello` is undefined if none arrived. */
  onRejected?(rejected: { hello: Message | undefined; remoteAddress: string; error: unknown }): void;
  /**
   * Creates the channel and sets its handlers; no frame is delivered before it returns. If it throws, the connection is
   * closed after the positive answer.
   */
  open(accepted: AcceptedHello): Channel;
}

interface Group {
  readonly secret: Buffer;
  readonly channel: Channel;
}

const GROUP_SECRET_LENGTH = 16;
/** Per group: the largest configurable link has 100 connections for payloads and 100 for acknowledgements. */
const MAX_CONNECTIONS = 200;

export class ChannelListener {
  readonly #options: ChannelListenerOptions;
  readonly #groups = new Map<string, Group>();
  /**
   * Connections before their hello is complete. Unauthenticated clients can take all slots, so a full listener evicts
   * instead of rejecting: an attacker who holds connections open displaces mostly his own, and a router that sends its
   * hello promptly succeeds.
   */
  readonly #slots: FairSlots<Underlay>;
  readonly #random: Random;
  readonly #ids: IdSource;
  #closed = false;

  constructor(options: ChannelListenerOptions) {
    this.#options = options;
    this.#slots = new FairSlots(options.maxHellos, (underlay) => this.#evict(underlay));
    this.#random = options.random ?? systemRandom;
    this.#ids = new IdSource(this.#random);
  }

  /** Accepts a connected socket. `network` is the connection that carries it, if that differs. */
  accept(socket: TlsConnection, network: Socket = networkOf(socket)): void {
    const underlay = new Underlay({ socket, network, io: this.#options.io });
    if (this.#closed) {
      underlay.close();
      return;
    }
    if (!this.#slots.add(underlay, sourceOf(underlay.remoteHost))) {
      this.#evict(underlay);
      return;
    }
    const over = this.#options.onHello?.();
    void this.#greet(underlay, socket, network).finally(() => {
      this.#slots.delete(underlay);
      over?.();
    });
  }

  /** Closes connections that are not part of a channel yet; channels belong to their owner. */
  close(): void {
    this.#closed = true;
    for (const underlay of this.#slots) underlay.close();
  }

  #evict(underlay: Underlay): void {
    const { log, maxHellos } = this.#options;
    log.warn({ remote: underlay.remoteAddress, limit: maxHellos }, 'connection closed: too many hellos in progress');
    underlay.close(new HelloRejectedError(`more than ${maxHellos} hellos are in progress`));
  }

  async #greet(underlay: Underlay, socket: TlsConnection, network: Socket): Promise<void> {
    const remote = underlay.remoteAddress;
    let hello: Message | undefined;
    try {
      hello = await readHello(underlay, this.#options.helloTimeout);
      this.#slots.setEvictable(underlay, false);
      await this.#place(underlay, socket, hello);
      this.#options.io.unauthenticatedCpu.authenticated(network);
    } catch (error) {
      this.#options.log.info({ remote, error: describeError(error) }, 'hello rejected');
      this.#options.onRejected?.({ hello, remoteAddress: remote, error });
      if (error instanceof WrongMagicError) underlay.rejectVersion();
      else underlay.close();
    }
  }

  async #place(underlay: Underlay, socket: TlsConnection, hello: Message): Promise<void> {
    const grouped = hello.bool(ChannelHeader.IsGrouped);
    const first = hello.bool(ChannelHeader.FirstInGroup);
    const given = hello.string(ChannelHeader.ConnectionId);
    const known = grouped && given !== undefined ? this.#openGroup(given) : undefined;
    if (grouped && !first && !known) throw new HelloRejectedError('the group is unknown or closed');
    const connectionId = given ?? this.#ids.short();
    // A hello that claims to be the first of an existing group joins it: the id of a group does not let anyone replace
    // it (the reference does the same).
    const { remoteAddress, remoteHost } = underlay;
    const accepted: AcceptedHello = {
      hello,
      socket,
      remoteAddress,
      remoteHost,
      connectionId,
      grouped,
      newChannel: !known,
    };
    await this.#options.check(accepted);
    if (underlay.isClosed) throw new ClosedError('the connection');
    underlay.type = grouped ? (hello.string(ChannelHeader.UnderlayType) ?? '') : '';
    // Another first hello of the group may have been accepted during the check.
    const group = known ?? (grouped ? this.#openGroup(connectionId) : undefined);
    if (group) this.#join(underlay, accepted, group);
    else this.#begin(underlay, accepted);
  }

  #openGroup(connectionId: string): Group | undefined {
    const group = this.#groups.get(connectionId);
    return group?.channel.isClosed ? undefined : group;
  }

  #join(underlay: Underlay, accepted: AcceptedHello, group: Group): void {
    const secret = accepted.hello.headers.get(ChannelHeader.GroupSecret) ?? Buffer.alloc(0);
    this.#answer(underlay, accepted, secret);
    // Answers first, even for a wrong secret: the reference does so too, and an attacker learns no reason for the
    // failure.
    if (secret.length !== group.secret.length || !timingSafeEqual(secret, group.secret))
      throw new HelloRejectedError('the group secret is wrong');
    const { channel } = group;
    if (channel.isClosed) throw new HelloRejectedError('the group was closed during the check');
    if (channel.underlays.length >= MAX_CONNECTIONS)
      throw new HelloRejectedError(`the group already has ${MAX_CONNECTIONS} connections`);
    channel.addUnderlay(underlay);
  }

  #begin(underlay: Underlay, accepted: AcceptedHello): void {
    const given = accepted.hello.headers.get(ChannelHeader.GroupSecret);
    const secret = given && given.length > 0 ? Buffer.from(given) : this.#random.bytes(GROUP_SECRET_LENGTH);
    this.#answer(underlay, accepted, secret);
    const channel = this.#options.open(accepted);
    if (accepted.grouped) this.#remember(accepted.connectionId, { secret, channel });
    channel.addUnderlay(underlay);
  }

  #remember(connectionId: string, group: Group): void {
    this.#groups.set(connectionId, group);
    void group.channel.closed.then(() => {
      if (this.#groups.get(connectionId) === group) this.#groups.delete(connectionId);
    });
  }

  #answer(underlay: Underlay, accepted: AcceptedHello, secret: Buffer): void {
    const headers: (readonly [number, Uint8Array | string])[] = [
      ...(this.#options.answerHeaders?.(accepted) ?? []),
      [ChannelHeader.ConnectionId, accepted.connectionId],
      [ChannelHeader.ListenerId, this.#options.id],
    ];
    if (accepted.grouped)
      headers.push(
        [ChannelHeader.IsGrouped, TRUE],
        [ChannelHeader.UnderlayType, underlay.type],
        [ChannelHeader.GroupSecret, secret],
      );
    acceptHello(underlay, accepted.hello, headers);
  }
}
