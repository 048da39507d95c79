// Dials one controller endpoint: TLS, hello, checks of the answer, and further connections of the group (reference
// facts: control channel, sections 1.5, 1.7, 7.2). Its callers decide when to dial and handle the messages.

import type { SecureContextOptions } from 'node:tls';
import { ProjectError } from '#lib/errors.ts';
import type { Log } from '#lib/log/log.ts';
import { parseAddress } from '#lib/net/address.ts';
import type { IoContext } from '#lib/net/io-context.ts';
import type { Random } from '#lib/random.ts';
import { Channel } from '#wire/channel/channel.ts';
import { ControlUnderlay, controlLanes } from '#wire/channel/control-lanes.ts';
import { GroupDialer } from '#wire/channel/group-dialer.ts';
import type { HeartbeatOptions } from '#wire/channel/heartbeat.ts';
import { sendHello } from '#wire/channel/hello.ts';
import { formatVersionInfo, parseVersionInfo, type VersionInfo } from '#wire/channel/version-info.ts';
import { dialTls, type HttpProxy } from '#wire/connection/dial.ts';
import type { FrameLimits } from '#wire/connection/frame-reader.ts';
import { Alpn } from '#wire/connection/tls-port.ts';
import { Underlay } from '#wire/connection/underlay.ts';
import { ChannelHeader, ControlHeader, ControllerCapability, ControlType, EdgeControlType } from '#wire/gen/numbers.ts';
import { hasBit, TRUE } from '#wire/header-values.ts';
import type { Message } from '#wire/message.ts';
import { Controller } from './controller.ts';

export interface ControlDialComponents {
  io: IoContext;
  log: Log;
  random: Random;
  identity: { readonly id: string; readonly authorities?: string; clientContext(): SecureContextOptions };
}

export interface ControlDialInit {
  version: VersionInfo;
  /** Protobuf Listeners of the links that other routers may dial; undefined if there are none. Read at each dial. */
  linkListeners(): Uint8Array | undefined;
  /**
   * Addresses at which controllers may dial this router, as protobuf CtrlChanListeners; undefined if there are none.
   */
  controlListeners(): Uint8Array | undefined;
  capabilities: Buffer;
  connectTimeout: number;
  outQueueSize: number;
  /** Milliseconds; 0: no limit. */
  writeTimeout: number;
  heartbeat: HeartbeatOptions;
  unresponsiveAfter: number;
  requestTimeout: number;
  localAddress?: string | undefined;
  proxy?: HttpProxy | undefined;
}

/** Bytes of a list of everything in one message: data model, sessions. Far above the size of any network. */
const MAX_LIST = 512 * 1024 * 1024;
/** Bytes of any other message of a controller. */
const MAX_MESSAGE = 16 * 1024 * 1024;
const LISTS = [
  EdgeControlType.DataState,
  EdgeControlType.ValidateDataState,
  EdgeControlType.ApiSessionAdded,
  ControlType.ValidateTerminators,
  ControlType.ValidateTerminatorsV2,
];
const CONTROL_LIMITS: FrameLimits = {
  maxHeaders: 1024 * 1024,
  maxBody: MAX_MESSAGE,
  maxBodies: new Map(LISTS.map((type) => [type, MAX_LIST])),
};
/**
 * Further connections are dialed 5 s after the first, at most one a second; the backoff is 2 s to 1 min (reference
 * fact).
 */
const GROUP_START_DELAY = 5_000;
const GROUP_MIN_INTERVAL = 1_000;
const GROUP_BACKOFF = { min: 2_000, max: 60_000, factor: 2, jitter: 0 };

/** The router cannot work with this controller; retrying does not help. */
export class UnsuitableControllerError extends ProjectError {
  constructor(message: string) {
    super('CONTROLLER_UNSUITABLE', message, { retriable: true });
  }
}

/**
 * Connects to `endpoint` (`tls:host:port`) and resolves once the hello is complete. No message is delivered before the
 * caller calls `open`. Rejects with the cause of the failure; every connection is closed then.
 */
export async function dialController(
  components: ControlDialComponents,
  init: ControlDialInit,
  endpoint: string,
  signal: AbortSignal,
): Promise<{ controller: Controller; open: () => void }> {
  const first = await connect(
    components,
    init,
    endpoint,
    [[ChannelHeader.FirstInGroup, TRUE]],
    ControlUnderlay.Default,
    signal,
  );
  const { underlay, answer } = first;
  try {
    const id = answer.string(ChannelHeader.ListenerId) ?? '';
    const connectionId = answer.string(ChannelHeader.ConnectionId) ?? '';
    const controller = controllerFrom(components, init, endpoint, { id, connectionId, headers: answer });
    return { controller, open: () => openChannel(components, init, controller, underlay, answer) };
  } catch (error) {
    underlay.close();
    throw error;
  }
}

/** The data of a controller's hello, or of its answer to ours. */
export interface ControllerHello {
  readonly id: string;
  readonly connectionId: string;
  readonly headers: Message;
}

/** Creates the controller of a connection whose hello is complete. @throws UnsuitableControllerError */
export function controllerFrom(
  { io, log }: { io: IoContext; log: Log },
  init: ControlDialInit,
  address: string,
  { id, connectionId, headers }: ControllerHello,
): Controller {
  const version = checkHello(id, headers, address);
  const channel = new Channel({
    name: `control ${id}`,
    peerId: id,
    connectionId,
    io,
    log,
    limits: CONTROL_LIMITS,
    lanes: controlLanes(init.outQueueSize),
    heartbeat: init.heartbeat,
    writeTimeout: init.writeTimeout,
    probesUnderlays: true,
  });
  return new Controller({
    id,
    address,
    version,
    capabilities: capabilitiesOf(headers),
    channel,
    unresponsiveAfter: init.unresponsiveAfter,
    requestTimeout: init.requestTimeout,
    clock: io.clock,
  });
}

/** The headers that a router sends in its hello and in answers to hellos. */
export function helloHeaders(init: ControlDialInit): [number, Uint8Array | string][] {
  const links = init.linkListeners();
  const control = init.controlListeners();
  return [
    [ChannelHeader.HelloVersion, formatVersionInfo(init.version)],
    [ControlHeader.Capabilities, init.capabilities],
    ...(links ? [[ControlHeader.LinkListeners, links] as [number, Uint8Array]] : []),
    ...(control ? [[ControlHeader.CtrlChanListeners, control] as [number, Uint8Array]] : []),
  ];
}

async function connect(
  components: ControlDialComponents,
  init: ControlDialInit,
  endpoint: string,
  extra: [number, Uint8Array | string][],
  type: string,
  signal: AbortSignal,
): Promise<{ underlay: Underlay; answer: Message }> {
  const address = parseAddress(endpoint);
  const socket = await dialTls({
    address,
    alpn: [Alpn.Control],
    context: components.identity.clientContext(),
    authorities: components.identity.authorities,
    localAddress: init.localAddress,
    proxy: init.proxy,
    timeout: init.connectTimeout,
    clock: components.io.clock,
    signal,
  });
  const underlay = new Underlay({ socket, io: components.io, type });
  const headers: [number, Uint8Array | string][] = [
    [ChannelHeader.UnderlayType, type],
    [ChannelHeader.IsGrouped, TRUE],
    ...helloHeaders(init),
    ...extra,
  ];
  return { underlay, answer: await sendHello(underlay, components.identity.id, headers, init.connectTimeout, signal) };
}

function checkHello(id: string, answer: Message, where: string): VersionInfo {
  const version = parseVersionInfo(answer.string(ChannelHeader.HelloVersion));
  if (!version) throw new UnsuitableControllerError(`the controller at ${where} did not send its version`);
  if (id === '') throw new UnsuitableControllerError(`the controller at ${where} did not send its id`);
  if (!hasBit(capabilitiesOf(answer), ControllerCapability.JwtLegacySessions)) {
    throw new UnsuitableControllerError(
      `the controller at ${where} (${version.version}) does not support JWT sessions; version 2.0 or later is needed`,
    );
  }
  return version;
}

function capabilitiesOf(answer: Message): Buffer | undefined {
  return answer.headers.get(ControlHeader.Capabilities);
}

function openChannel(
  components: ControlDialComponents,
  init: ControlDialInit,
  controller: Controller,
  underlay: Underlay,
  answer: Message,
): void {
  const { channel } = controller;
  channel.addUnderlay(underlay);
  const secret = answer.headers.get(ChannelHeader.GroupSecret);
  if (!secret || !controller.can(ControllerCapability.GroupedControlChannel)) return;
  const membership: [number, Uint8Array | string][] = [
    [ChannelHeader.ConnectionId, channel.connectionId],
    [ChannelHeader.GroupSecret, secret],
  ];
  new GroupDialer({
    channel,
    wanted: { [ControlUnderlay.Default]: 1, [ControlUnderlay.High]: 1 },
    startDelay: GROUP_START_DELAY,
    minInterval: GROUP_MIN_INTERVAL,
    backoff: GROUP_BACKOFF,
    dial: async (type, signal) =>
      (await connect(components, init, controller.address, membership, type, signal)).underlay,
    clock: components.io.clock,
    random: components.random,
    log: components.log,
  }).start();
}
