// Accepts links that other routers dial: checks the hello and the certificate, joins the two halves of a split link,
// and asks a controller to verify the dialing router (reference fact: link, sections 1.2, 1.5 and 1.6).

import type { X509Certificate } from 'node:crypto';
import type { Socket } from 'node:net';
import { describeError } from '#lib/errors.ts';
import type { Log } from '#lib/log/log.ts';
import type { IoContext } from '#lib/net/io-context.ts';
import type { IoThreads } from '#lib/threads/io-threads.ts';
import type { Timer } from '#lib/time/clock.ts';
import { sha1Fingerprint } from '#pki/certificates.ts';
import type { Channel } from '#wire/channel/channel.ts';
import { type AcceptedHello, ChannelListener } from '#wire/channel/channel-listener.ts';
import { type TrustedAuthorities, trustedLeaf } from '#wire/channel/peer-certificate.ts';
import { ThreadedTls } from '#wire/connection/threads/threaded-tls.ts';
import { Alpn, type FrameProtocol, type TlsPort } from '#wire/connection/tls-port.ts';
import { HelloRejectedError } from '#wire/errors.ts';
import { LinkHeader } from '#wire/gen/numbers.ts';
import type { Message } from '#wire/message.ts';
import type { LinkInit } from './link.ts';
import { ACK_CHANNEL, type LinkChannelSettings, linkChannel, PAYLOAD_CHANNEL } from './link-dialer.ts';
import { linkKey } from './link-key.ts';

export interface LinkListenerComponents {
  io: IoContext;
  log: Log;
  port: TlsPort;
  /** A further protocol name under which links are accepted, if the port does not use it otherwise. */
  protocol?: string | undefined;
  identity: { readonly id: string } & TrustedAuthorities;
  settings: LinkChannelSettings;
  /**
   * Asks a controller whether a certificate belongs to a router; rejects if it does not, or if no controller can
   * answer.
   */
  verifyRouter(routerId: string, fingerprints: string[]): Promise<void>;
  /** Called with a verified link; the registry decides whether to keep it. */
  onLink(init: LinkInit): void;
  /** For metrics: called when a hello begins; the returned function is called when it ends. */
  onHello?: () => () => void;
}

export interface LinkListenerSettings {
  /** The listen address, with the actual port. */
  readonly bind: string;
  readonly protocol: string;
  readonly advertise: string;
  readonly groups: readonly string[];
  /** Configured or detected interface name; empty if unknown. */
  readonly bindInterface: string;
  /** Milliseconds for the hello. */
  readonly connectTimeout: number;
  /** Milliseconds; 0: no limit. */
  readonly writeTimeout: number;
  readonly maxOutstandingConnects: number;
}

/** One of the two connections of a split link, waiting for the other. */
interface Half {
  readonly peerId: string;
  readonly kind: number;
  readonly channel: Channel;
  readonly since: number;
}

const HALF_LIFETIME = 30_000;
const HALF_SWEEP = 60_000;
const MAX_HALVES = 1_000;
/**
 * Keeps one router from using the places of all others. A router dials a link for each pair of a dialer and a listener.
 */
const MAX_HALVES_OF_ROUTER = 50;
/** The forms of the reference: UUIDs, base 62, and short ids with dots and dashes. Ids become part of metric names. */
const LINK_ID = /^[\w.-]{1,64}$/;

export class LinkListener {
  readonly settings: LinkListenerSettings;
  readonly #components: LinkListenerComponents;
  readonly #listener: ChannelListener;
  readonly #halves = new Map<string, Half>();
  /**
   * Routers with a connection on this thread, by address, and the number of these connections. Further ones carry the
   * bytes of circuits with many, so I/O threads carry them; the first one has the light traffic.
   */
  readonly #onThisThread = new Map<string, number>();
  readonly #unhandle: (() => void)[];
  readonly #sweeper: Timer;

  /** Starts to accept on the port. @throws ProtocolTakenError if the port already serves links. */
  constructor(components: LinkListenerComponents, settings: LinkListenerSettings) {
    this.#components = components;
    this.settings = settings;
    this.#listener = new ChannelListener({
      id: components.identity.id,
      io: components.io,
      log: components.log,
      helloTimeout: settings.connectTimeout,
      maxHellos: settings.maxOutstandingConnects,
      onHello: components.onHello,
      check: (accepted) => this.#check(accepted),
      open: (accepted) => this.#open(accepted),
    });
    const { port, protocol } = components;
    const protocols = protocol && !port.has(protocol) ? [Alpn.Link, protocol] : [Alpn.Link];
    const threaded: FrameProtocol = {
      isForThread: (remoteAddress) => this.#onThisThread.has(remoteAddress),
      accept: (socket) => this.#listener.accept(socket),
    };
    this.#unhandle = protocols.map((each) => port.handle(each, threaded));
    this.#sweeper = components.io.clock.every('split link halves', HALF_SWEEP, () => this.#sweep());
  }

  /** Stops accepting; established links stay open. */
  close(): void {
    this.#sweeper.cancel();
    for (const unhandle of this.#unhandle) unhandle();
    this.#listener.close();
    for (const half of this.#halves.values()) half.channel.close();
    this.#halves.clear();
  }

  /**
   * Verifies the dialer before answering its hello, so that nothing is stored for unverified routers. Further
   * connections of a group prove themselves by the secret of the group.
   */
  async #check({ hello, socket, newChannel }: AcceptedHello): Promise<void> {
    const { identity, io } = this.#components;
    const dialed = hello.string(LinkHeader.DialedRouterId);
    if (dialed !== undefined && dialed !== identity.id)
      throw new HelloRejectedError(`the dialer expects router ${dialed}`);
    const leaf = trustedLeaf(socket, identity, io.clock.now());
    if (newChannel) await this.#verifyRouter(hello, leaf);
    if (io.linkThreads && !(socket instanceof ThreadedTls)) this.#countOnThisThread(socket, io.linkThreads);
  }

  /** @throws HelloRejectedError if the certificate does not belong to the router that the hello names */
  async #verifyRouter(hello: Message, leaf: X509Certificate): Promise<void> {
    const { log } = this.#components;
    const { peerId, linkId } = linkIds(hello);
    try {
      await this.#components.verifyRouter(peerId, [sha1Fingerprint(leaf)]);
    } catch (error) {
      log.warn(
        { linkId, peerId, error: describeError(error) },
        'link rejected: the dialing router could not be verified',
      );
      throw new HelloRejectedError(`router ${peerId} could not be verified`, { cause: error });
    }
  }

  #countOnThisThread(socket: Socket, threads: IoThreads): void {
    const { remoteAddress: address = '' } = socket;
    const count = (change: number) => {
      const after = (this.#onThisThread.get(address) ?? 0) + change;
      if (after > 0) this.#onThisThread.set(address, after);
      else this.#onThisThread.delete(address);
    };
    if (socket.destroyed) return;
    count(1);
    void threads.start(); // its next connections follow soon
    socket.once('close', () => count(-1));
  }

  #open(accepted: AcceptedHello): Channel {
    const { peerId, linkId } = linkIds(accepted.hello);
    const channel = linkChannel(this.#components, {
      linkId,
      peerId,
      connectionId: accepted.connectionId,
      grouped: accepted.grouped,
      writeTimeout: this.settings.writeTimeout,
    });
    this.#assemble(accepted, channel, peerId, linkId);
    return channel;
  }

  #assemble(accepted: AcceptedHello, channel: Channel, peerId: string, linkId: string): void {
    const kind = accepted.hello.headers.get(LinkHeader.ChannelType)?.[0];
    const init = this.#linkInit(accepted, peerId, linkId);
    if (accepted.grouped || kind === undefined) {
      this.#components.onLink({ ...init, payloads: channel, acknowledgements: channel });
      return;
    }
    // The dialer chooses connection ids, so only the router that dialed one half may complete it.
    const halfKey = `${peerId} ${linkId} ${accepted.connectionId}`;
    const other = this.#halves.get(halfKey);
    if (!other) {
      this.#keepHalf(halfKey, { peerId, kind, channel, since: this.#components.io.clock.monotonic() });
      return;
    }
    this.#halves.delete(halfKey);
    const pair = { [kind]: channel, [other.kind]: other.channel };
    const payloads = pair[PAYLOAD_CHANNEL];
    const acknowledgements = pair[ACK_CHANNEL];
    if (payloads && acknowledgements && !other.channel.isClosed)
      this.#components.onLink({ ...init, payloads, acknowledgements });
    else for (const half of [channel, other.channel]) half.close();
  }

  #linkInit(accepted: AcceptedHello, peerId: string, linkId: string): Omit<LinkInit, 'payloads' | 'acknowledgements'> {
    const { hello } = accepted;
    const key = linkKey({
      dialerBinding: hello.string(LinkHeader.DialerBinding) ?? '',
      protocol: this.settings.protocol,
      routerId: peerId,
      listenerBinding: this.settings.bindInterface,
    });
    return {
      id: linkId,
      key,
      peerId,
      peerVersion: hello.string(LinkHeader.RouterVersion) ?? '',
      iteration: hello.uint32(LinkHeader.Iteration) ?? 0,
      dialed: false,
      protocol: this.settings.protocol,
      address: this.settings.advertise,
    };
  }

  #keepHalf(key: string, half: Half): void {
    const ofRouter = [...this.#halves.values()].filter(({ peerId }) => peerId === half.peerId).length;
    if (this.#halves.size >= MAX_HALVES || ofRouter >= MAX_HALVES_OF_ROUTER) {
      half.channel.close();
      return;
    }
    this.#halves.set(key, half);
    void half.channel.closed.then(() => {
      if (this.#halves.get(key) === half) this.#halves.delete(key);
    });
  }

  #sweep(): void {
    const before = this.#components.io.clock.monotonic() - HALF_LIFETIME;
    for (const [key, half] of this.#halves) {
      if (half.since > before) continue;
      half.channel.close();
      this.#halves.delete(key);
    }
  }
}

/** @throws HelloRejectedError */
function linkIds(hello: Message): { peerId: string; linkId: string } {
  const peerId = hello.string(LinkHeader.RouterId);
  if (!peerId) throw new HelloRejectedError('the link hello has no router id');
  const linkId = hello.string(LinkHeader.LinkId) ?? hello.body.toString();
  if (!LINK_ID.test(linkId)) throw new HelloRejectedError('the link hello has no valid link id');
  return { peerId, linkId };
}
