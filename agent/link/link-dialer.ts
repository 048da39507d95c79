// Dials one link: grouped, split or single, depending on what the other router supports (reference fact: link, sections
// 1.2 and 1.3). WantedLinks decides when to dial.

import type { SecureContextOptions } from 'node:tls';
import { IdSource } from '#lib/ids.ts';
import type { Log } from '#lib/log/log.ts';
import { parseAddress } from '#lib/net/address.ts';
import type { IoContext } from '#lib/net/io-context.ts';
import type { Random } from '#lib/random.ts';
import type { IoThreads } from '#lib/threads/io-threads.ts';
import type { BackoffPolicy } from '#lib/time/backoff.ts';
import { Channel, type ChannelOptions } from '#wire/channel/channel.ts';
import { GroupDialer } from '#wire/channel/group-dialer.ts';
import type { HeartbeatOptions } from '#wire/channel/heartbeat.ts';
import { sendHello } from '#wire/channel/hello.ts';
import { versionAtLeast } from '#wire/channel/version-info.ts';
import { type DialOptions, dialTls, dialTlsInThread, type HttpProxy } from '#wire/connection/dial.ts';
import type { FrameLimits } from '#wire/connection/frame-reader.ts';
import { Alpn } from '#wire/connection/tls-port.ts';
import { Underlay } from '#wire/connection/underlay.ts';
import { ChannelHeader, LinkHeader, XgressType } from '#wire/gen/numbers.ts';
import { encodeUint32, TRUE } from '#wire/header-values.ts';
import type { LanePolicy, QueueBudget } from '#wire/lanes/send-lanes.ts';
import type { Message } from '#wire/message.ts';
import { ACK_LANE, HEARTBEAT_LANE, LinkUnderlay, PAYLOAD_LANE } from './link.ts';

/** Settings of a configured dialer. */
export interface LinkDialerSettings {
  readonly groups: readonly string[];
  /** Configured `bind`, else the interface of the only listener, else empty. */
  readonly binding: string;
  readonly localAddress: string | undefined;
  readonly split: boolean;
  readonly maxDefaultConnections: number;
  readonly maxAckConnections: number;
  /** Milliseconds. */
  readonly startupDelay: number;
  readonly connectTimeout: number;
  /** 0: no limit. */
  readonly writeTimeout: number;
  readonly healthyBackoff: BackoffPolicy;
  readonly unhealthyBackoff: BackoffPolicy;
}

export interface LinkChannelSettings {
  readonly payloadQueueLength: number;
  /** Memory of all links of this router for payloads that wait. */
  readonly payloadBudget: QueueBudget;
  readonly ackQueueLength: number;
  readonly heartbeat: HeartbeatOptions;
}

export interface LinkDialComponents {
  io: IoContext;
  log: Log;
  random: Random;
  identity: { readonly id: string; readonly authorities?: string; clientContext(): SecureContextOptions };
  proxy?: HttpProxy | undefined;
  settings: LinkChannelSettings;
}

export interface LinkDialRequest {
  linkId: string;
  peerId: string;
  peerVersion: string;
  /** `tls:host:port` */
  address: string;
  iteration: number;
  dialer: LinkDialerSettings;
}

export interface DialedLink {
  payloads: Channel;
  acknowledgements: Channel;
  /** Sets the handlers, then starts to read frames. */
  open(): void;
  /** Stops dialing further connections of a grouped link. */
  stopGrowing(): void;
}

/** Bytes, far above the size of any payload: it carries one read of a socket. */
const MAX_PAYLOAD = 16 * 1024 * 1024;
/** Bytes of any other message of a router: acknowledgements, traces, heartbeats. */
const MAX_MESSAGE = 1024 * 1024;
const LINK_LIMITS: FrameLimits = {
  maxHeaders: 64 * 1024,
  maxBody: MAX_MESSAGE,
  maxBodies: new Map([[XgressType.Payload, MAX_PAYLOAD]]),
};
const GROUP_BACKOFF: BackoffPolicy = { min: 2_000, max: 60_000, factor: 2, jitter: 0 };
/** Routers support grouped links from this version on. */
const GROUPED_FROM = 'v1.6.6';
export const PAYLOAD_CHANNEL = 1;
export const ACK_CHANNEL = 2;
/** Heartbeats and answers that wait to be sent; a peer asks every few seconds. */
const HEARTBEAT_QUEUE = 16;

type Headers = [number, Uint8Array | string][];

/** Rejects with the cause of the failure; every connection is closed then. */
export async function dialLink(
  components: LinkDialComponents,
  request: LinkDialRequest,
  signal: AbortSignal,
): Promise<DialedLink> {
  const connectionId = new IdSource(components.random).uuid();
  if (versionAtLeast(request.peerVersion, GROUPED_FROM)) return dialGrouped(components, request, connectionId, signal);
  if (!request.dialer.split) return dialSingle(components, request, connectionId, signal);
  return dialSplit(components, request, connectionId, signal);
}

/** Creates the channel of a link, for both sides. `types` are the underlay types that carry a lane. */
export function linkChannel(
  components: { io: IoContext; log: Log; settings: LinkChannelSettings },
  init: { linkId: string; peerId: string; connectionId: string; grouped: boolean; writeTimeout: number },
): Channel {
  const { settings } = components;
  const lane = (types: string[], queueLimit: number, gathers = true): LanePolicy => ({
    types: init.grouped ? types : [''],
    queueLimit,
    takesTurns: init.grouped,
    gathers: init.grouped && gathers,
  });
  const options: ChannelOptions = {
    name: `link ${init.linkId}`,
    peerId: init.peerId,
    connectionId: init.connectionId,
    io: components.io,
    log: components.log,
    limits: LINK_LIMITS,
    reuseMemory: true,
    lanes: new Map([
      [PAYLOAD_LANE, { ...lane([LinkUnderlay.Default], settings.payloadQueueLength), flows: settings.payloadBudget }],
      [
        ACK_LANE,
        { ...lane([LinkUnderlay.Ack, LinkUnderlay.Default], settings.ackQueueLength), followsBulk: init.grouped },
      ],
      [HEARTBEAT_LANE, lane([LinkUnderlay.Default, LinkUnderlay.Ack], HEARTBEAT_QUEUE, false)],
    ]),
    answerLane: HEARTBEAT_LANE,
    heartbeat: settings.heartbeat,
    writeTimeout: init.writeTimeout,
  };
  return new Channel(
    init.grouped ? { ...options, essentialType: LinkUnderlay.Default, probesUnderlays: true } : options,
  );
}

async function dialGrouped(
  components: LinkDialComponents,
  request: LinkDialRequest,
  connectionId: string,
  signal: AbortSignal,
): Promise<DialedLink> {
  const grouping: Headers = [
    [ChannelHeader.UnderlayType, LinkUnderlay.Default],
    [ChannelHeader.IsGrouped, TRUE],
    [ChannelHeader.FirstInGroup, TRUE],
  ];
  const { underlay, answer } = await connect(components, request, connectionId, grouping, signal);
  const grouped = answer.bool(ChannelHeader.IsGrouped);
  underlay.type = grouped ? LinkUnderlay.Default : '';
  const channel = linkChannel(components, { ...channelOf(request), connectionId, grouped });
  const secret = answer.headers.get(ChannelHeader.GroupSecret);
  const group = grouped && secret ? groupDialer(components, request, channel, secret) : undefined;
  return {
    payloads: channel,
    acknowledgements: channel,
    open: () => {
      channel.addUnderlay(underlay);
      group?.start();
    },
    stopGrowing: () => group?.stop(),
  };
}

function groupDialer(
  components: LinkDialComponents,
  request: LinkDialRequest,
  channel: Channel,
  secret: Buffer,
): GroupDialer {
  const { dialer } = request;
  return new GroupDialer({
    channel,
    wanted: { [LinkUnderlay.Default]: dialer.maxDefaultConnections, [LinkUnderlay.Ack]: dialer.maxAckConnections },
    startDelay: dialer.startupDelay,
    minInterval: 0,
    backoff: GROUP_BACKOFF,
    dial: async (type, signal) => {
      const membership: Headers = [
        [ChannelHeader.UnderlayType, type],
        [ChannelHeader.IsGrouped, TRUE],
        [ChannelHeader.GroupSecret, secret],
      ];
      // One for payloads stays on this thread at both ends, with the light traffic of both types.
      const hasLight = channel.underlays.some((each) => each.type === LinkUnderlay.Default && !each.isThreaded);
      const threads = hasLight ? components.io.linkThreads : undefined;
      const { underlay } = await connect(components, request, channel.connectionId, membership, signal, threads);
      underlay.type = type;
      return underlay;
    },
    clock: components.io.clock,
    random: components.random,
    log: components.log,
  });
}

async function dialSingle(
  components: LinkDialComponents,
  request: LinkDialRequest,
  connectionId: string,
  signal: AbortSignal,
): Promise<DialedLink> {
  const { underlay } = await connect(components, request, connectionId, [], signal);
  const channel = linkChannel(components, { ...channelOf(request), connectionId, grouped: false });
  return {
    payloads: channel,
    acknowledgements: channel,
    open: () => channel.addUnderlay(underlay),
    stopGrowing: () => undefined,
  };
}

async function dialSplit(
  components: LinkDialComponents,
  request: LinkDialRequest,
  connectionId: string,
  signal: AbortSignal,
): Promise<DialedLink> {
  const half = async (kind: number) =>
    (await connect(components, request, connectionId, [[LinkHeader.ChannelType, Buffer.from([kind])]], signal))
      .underlay;
  const payloadUnderlay = await half(PAYLOAD_CHANNEL);
  let ackUnderlay: Underlay;
  try {
    ackUnderlay = await half(ACK_CHANNEL);
  } catch (error) {
    payloadUnderlay.close();
    throw error;
  }
  const init = { ...channelOf(request), connectionId, grouped: false };
  const payloads = linkChannel(components, init);
  const acknowledgements = linkChannel(components, init);
  return {
    payloads,
    acknowledgements,
    open: () => {
      payloads.addUnderlay(payloadUnderlay);
      acknowledgements.addUnderlay(ackUnderlay);
    },
    stopGrowing: () => undefined,
  };
}

function channelOf({ linkId, peerId, dialer: { writeTimeout } }: LinkDialRequest) {
  return { linkId, peerId, writeTimeout };
}

/** @param threads They carry the bytes, if they can. */
async function connect(
  components: LinkDialComponents,
  request: LinkDialRequest,
  connectionId: string,
  extra: Headers,
  signal: AbortSignal,
  threads?: IoThreads,
): Promise<{ underlay: Underlay; answer: Message }> {
  const { dialer } = request;
  const options: DialOptions = {
    address: parseAddress(request.address),
    alpn: [Alpn.Link],
    context: components.identity.clientContext(),
    authorities: components.identity.authorities,
    localAddress: dialer.localAddress,
    proxy: components.proxy,
    timeout: dialer.connectTimeout,
    clock: components.io.clock,
    signal,
  };
  const socket = await (threads ? dialTlsInThread(options, threads) : dialTls(options));
  const underlay = new Underlay({ socket, io: components.io });
  const headers: Headers = [
    [LinkHeader.ConnectionId, connectionId],
    [LinkHeader.RouterId, components.identity.id],
    [LinkHeader.RouterVersion, request.peerVersion],
    [LinkHeader.DialerBinding, dialer.binding],
    [LinkHeader.Iteration, encodeUint32(request.iteration)],
    [LinkHeader.DialedRouterId, request.peerId],
    [LinkHeader.LinkId, request.linkId],
    ...extra,
  ];
  return { underlay, answer: await sendHello(underlay, request.linkId, headers, dialer.connectTimeout, signal) };
}
