// Accepts links that other routers dial: hello, certificate, the two halves of a split link, and the question to a controller
// whether the dialing router is who it says (reference fact: link, sections 1.2, 1.5 and 1.6).

import type { X509Certificate } from 'node:crypto';
import { background } from '#lib/background.ts';
import { verifyChain } from '#lib/certificate-chain.ts';
import { peerCertificates, sha1Fingerprint } from '#lib/certificates.ts';
import type { Clock, Timer } from '#lib/clock.ts';
import { describeError } from '#lib/errors.ts';
import type { Log } from '#lib/log.ts';
import type { Channel } from '#wire/channel.ts';
import { type AcceptedHello, ChannelListener } from '#wire/channel-listener.ts';
import { HelloRefusedError } from '#wire/errors.ts';
import { LinkHeader } from '#wire/gen/numbers.ts';
import { Alpn, type TlsPort } from '#wire/tls-port.ts';
import type { LinkInit } from './link.ts';
import { type LinkChannelSettings, linkChannel } from './link-dialer.ts';
import { linkKey } from './link-key.ts';

export interface LinkListenerComponents {
  clock: Clock;
  log: Log;
  port: TlsPort;
  identity: { readonly id: string; readonly roots: readonly X509Certificate[] };
  settings: LinkChannelSettings;
  /** Asks a controller whether a certificate belongs to a router; rejects when it does not or nobody can say. */
  verifyRouter(routerId: string, fingerprints: string[]): Promise<void>;
  /** A verified link; the registry decides whether it is kept. */
  onLink(init: LinkInit): void;
}

export interface LinkListenerSettings {
  /** The configured address that is listened on. */
  readonly bind: string;
  readonly protocol: string;
  readonly advertise: string;
  readonly groups: readonly string[];
  /** Configured or found interface name; empty when unknown. */
  readonly bindInterface: string;
  /** Milliseconds for the hello. */
  readonly connectTimeout: number;
  readonly maxOutstandingConnects: number;
}

interface Half {
  kind: number;
  channel: Channel;
  since: number;
}

const PAYLOAD_CHANNEL = 1;
const ACK_CHANNEL = 2;
const HALF_LIFETIME = 30_000;
const HALF_SWEEP = 60_000;
const MOST_HALVES = 1_000;

export class LinkListener {
  readonly settings: LinkListenerSettings;
  readonly #components: LinkListenerComponents;
  readonly #listener: ChannelListener;
  readonly #halves = new Map<string, Half>();
  readonly #unhandle: () => void;
  readonly #sweeper: Timer;

  /** Begins to accept on the port. Throws ProtocolTakenError when links are served there already. */
  constructor(components: LinkListenerComponents, settings: LinkListenerSettings) {
    this.#components = components;
    this.settings = settings;
    this.#listener = new ChannelListener({
      id: components.identity.id,
      clock: components.clock,
      log: components.log,
      helloTimeout: settings.connectTimeout,
      maxHellos: settings.maxOutstandingConnects,
      check: (accepted) => this.#check(accepted),
      open: (accepted) => this.#open(accepted),
    });
    this.#unhandle = components.port.handle(Alpn.Link, (socket) => this.#listener.accept(socket));
    this.#sweeper = components.clock.every('split link halves', HALF_SWEEP, () => this.#sweep());
  }

  /** Accepts no more; links that are up stay. */
  close(): void {
    this.#sweeper.cancel();
    this.#unhandle();
    this.#listener.close();
    for (const half of this.#halves.values()) half.channel.close();
    this.#halves.clear();
  }

  #check({ hello, socket }: AcceptedHello): void {
    const { identity, clock } = this.#components;
    const dialed = hello.string(LinkHeader.DialedRouterId);
    if (dialed !== undefined && dialed !== identity.id)
      throw new HelloRefusedError(`the link is meant for router ${dialed}`);
    const verdict = verifyChain(peerCertificates(socket), identity.roots, { now: clock.now() });
    if (!verdict.ok) throw new HelloRefusedError(verdict.reason);
  }

  #open(accepted: AcceptedHello): Channel {
    const { hello } = accepted;
    const peerId = hello.string(LinkHeader.RouterId);
    if (!peerId) throw new HelloRefusedError('the hello of the link names no router');
    const linkId = hello.string(LinkHeader.LinkId) ?? hello.body.toString();
    const channel = linkChannel(this.#components, {
      linkId,
      peerId,
      connectionId: accepted.connectionId,
      grouped: accepted.grouped,
    });
    background(this.#components.log, 'verify link', this.#verify(accepted, channel, peerId, linkId));
    return channel;
  }

  async #verify(accepted: AcceptedHello, channel: Channel, peerId: string, linkId: string): Promise<void> {
    const [leaf] = peerCertificates(accepted.socket);
    try {
      await this.#components.verifyRouter(peerId, leaf ? [sha1Fingerprint(leaf)] : []);
    } catch (error) {
      this.#components.log.warn(
        { linkId, peerId, error: describeError(error) },
        'link refused: the dialing router could not be verified',
      );
      channel.close();
      return;
    }
    if (!channel.isClosed) this.#assemble(accepted, channel, peerId, linkId);
  }

  #assemble(accepted: AcceptedHello, channel: Channel, peerId: string, linkId: string): void {
    const kind = accepted.hello.headers.get(LinkHeader.ChannelType)?.[0];
    const init = this.#linkInit(accepted, peerId, linkId);
    if (accepted.grouped || kind === undefined) {
      this.#components.onLink({ ...init, payloads: channel, acknowledgements: channel });
      return;
    }
    const other = this.#halves.get(accepted.connectionId);
    if (!other) {
      this.#keepHalf(accepted.connectionId, { kind, channel, since: this.#components.clock.now() });
      return;
    }
    this.#halves.delete(accepted.connectionId);
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

  #keepHalf(connectionId: string, half: Half): void {
    if (this.#halves.size >= MOST_HALVES) half.channel.close();
    else this.#halves.set(connectionId, half);
  }

  #sweep(): void {
    const before = this.#components.clock.now() - HALF_LIFETIME;
    for (const [connectionId, half] of this.#halves) {
      if (half.since > before && !half.channel.isClosed) continue;
      half.channel.close();
      this.#halves.delete(connectionId);
    }
  }
}
