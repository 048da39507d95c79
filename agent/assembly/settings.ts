// Settings of each room, derived from a checked configuration. Pure functions; the other files of this folder use them.

import { create, toBinary } from '@bufbuild/protobuf';
import { formatAddress } from '#lib/net/address.ts';
import { groupsOrDefault } from '#model/link-groups.ts';
import type { HttpProxy } from '#wire/connection/dial.ts';
import { CtrlChanListenersSchema, ListenersSchema } from '#wire/gen/control_pb.js';
import { RouterCapability } from '#wire/gen/numbers.ts';
import { encodeBitMask } from '#wire/header-values.ts';
import type { QueueBudget } from '#wire/lanes/send-lanes.ts';
import type { EdgeListenerConfig, LinkConfig, ProxyConfig, RouterConfig } from '../config/router-config.ts';
import { defaultXgressOptions } from '../config/xgress-defaults.ts';
import type { ControlDialInit } from '../control/control-dial.ts';
import type { ControlListenerSettings } from '../control/control-listener.ts';
import type { WebSocketSettings } from '../ingress/edge/clients/websocket-port.ts';
import type { LinkChannelSettings, LinkDialerSettings } from '../link/link-dialer.ts';
import { interfaceOf, localAddressFor } from '../link/link-key.ts';
import type { LinkListenerSettings } from '../link/link-listener.ts';
import type { XgressOptions } from '../xgress/options.ts';

const LINK_HEARTBEAT = { sendInterval: 10_000, checkInterval: 1_000 };
const SECOND = 1_000;
/** Without an edge section. */
const HEARTBEAT_SECONDS = 60;
const BACKOFF_JITTER = 0.5;
/**
 * The same to controllers and SDK clients: controllers list them to clients, and the Go SDK subscribes only to routers
 * that are listed as able to serve subscriptions. The highest bit makes the mask eight bytes long: the C SDK misreads
 * shorter ones (reference fact: edge, section 1).
 */
export const CAPABILITIES: Buffer = encodeBitMask([
  RouterCapability.MultiChannel,
  RouterCapability.ConnectV2,
  RouterCapability.ServiceSubscriptions,
  RouterCapability.PostureChecks,
  RouterCapability.BindSuccess,
  RouterCapability.RoutesInOrder,
  RouterCapability.RouterDataModel,
]);

/** Whether a listener at this address reads the certificates of its clients. Ports without one do not request them. */
export function needsCertificates(
  { listeners, link, ctrl, edge }: RouterConfig,
  { host, port }: { readonly host: string; readonly port: number },
): boolean {
  if (port === 0) return false; // it is shared with no other listener
  const sdk = listeners.flatMap((each) => (each.binding === 'edge' ? [each.address] : []));
  const channels = [...link.listeners, ...ctrl.listeners].map(({ bind }) => bind);
  const tls = [...channels, ...sdk].filter(({ type }) => type === 'tls');
  const readers = [...tls, ...(edge?.apiProxy ? [edge.apiProxy.listener] : [])];
  return readers.some((each) => each.host === host && each.port === port);
}

/** For the control channels. */
export function controlSettings({
  ctrl,
  proxy,
}: RouterConfig): Omit<ControlDialInit, 'version' | 'linkListeners' | 'controlListeners'> & { endpoints: string[] } {
  const configured = ctrl.endpoint ? [ctrl.endpoint] : (ctrl.endpoints ?? []);
  return {
    endpoints: configured.map(formatAddress),
    capabilities: CAPABILITIES,
    connectTimeout: ctrl.options.connectTimeout,
    outQueueSize: ctrl.options.outQueueSize,
    writeTimeout: ctrl.options.writeTimeout,
    // Without an interval, the reference sends a heartbeat at each check.
    heartbeat: { ...ctrl.heartbeats, sendInterval: Math.max(1, ctrl.heartbeats.sendInterval) },
    unresponsiveAfter: ctrl.heartbeats.unresponsiveAfter,
    requestTimeout: ctrl.defaultRequestTimeout,
    localAddress: ctrl.bind === undefined ? undefined : localAddressFor(ctrl.bind),
    proxy: httpProxy(proxy),
  };
}

/** For the channels of all links. */
export function linkChannelSettings({ link }: RouterConfig, payloadBudget: QueueBudget): LinkChannelSettings {
  const { closeUnresponsiveTimeout } = link.heartbeats;
  return {
    payloadQueueLength: link.payloadSenderQueueSize,
    payloadBudget,
    ackQueueLength: link.ackSenderQueueSize,
    heartbeat: { ...LINK_HEARTBEAT, closeUnresponsiveTimeout, initialGrace: 2 * closeUnresponsiveTimeout },
  };
}

/**
 * For one entry of link.dialers. If there is one listener and one dialer, a dialer without an interface adopts the
 * listener's.
 */
export function linkDialerSettings(link: LinkConfig, dialer: LinkConfig['dialers'][number]): LinkDialerSettings {
  const bound = dialer.bindInterface ?? dialer.bind;
  const [onlyListener] = link.listeners.length === 1 && link.dialers.length === 1 ? link.listeners : [];
  const adopted = onlyListener && (onlyListener.bindInterface ?? interfaceOf(onlyListener.bind.host));
  const policy = (given: { minRetryInterval: number; maxRetryInterval: number; retryBackoffFactor: number }) => ({
    min: given.minRetryInterval,
    max: given.maxRetryInterval,
    factor: given.retryBackoffFactor,
    jitter: BACKOFF_JITTER,
  });
  return {
    groups: groupsOrDefault(dialer.groups),
    binding: bound ?? adopted ?? '',
    localAddress: bound === undefined ? undefined : localAddressFor(bound),
    split: dialer.split,
    maxDefaultConnections: dialer.maxDefaultConnections,
    maxAckConnections: dialer.maxAckConnections,
    startupDelay: dialer.startupDelay,
    connectTimeout: dialer.options.connectTimeout,
    writeTimeout: dialer.options.writeTimeout,
    healthyBackoff: policy(dialer.healthyDialBackoff),
    unhealthyBackoff: policy(dialer.unhealthyDialBackoff),
  };
}

/** For one entry of link.listeners; `port` is the actual port. */
export function linkListenerSettings(listener: LinkConfig['listeners'][number], port: number): LinkListenerSettings {
  return {
    bind: formatAddress(withPort(listener.bind, port)),
    protocol: listener.bind.type,
    advertise: formatAddress(withPort(listener.advertise ?? listener.bind, port)),
    groups: groupsOrDefault(listener.groups),
    bindInterface: listener.bindInterface ?? interfaceOf(listener.bind.host),
    connectTimeout: listener.options.connectTimeout,
    writeTimeout: listener.options.writeTimeout,
    maxOutstandingConnects: listener.options.maxOutstandingConnects,
  };
}

/** An address with port 0 means the port that the system chose. */
export function withPort<T extends { readonly port: number }>(address: T, port: number): T {
  return address.port === 0 ? { ...address, port } : address;
}

/** The addresses of a listener for SDK clients with its actual port. */
export function edgeListenerSettings(config: EdgeListenerConfig, port: number): EdgeListenerConfig {
  const { address, options } = config;
  const advertise = withPort(options.advertise, port);
  return { ...config, address: withPort(address, port), options: { ...options, advertise } };
}

/**
 * Encodes our link listeners as the protobuf that controllers announce to other routers; undefined without listeners.
 */
export function advertisedListeners(listeners: readonly LinkListenerSettings[]): Uint8Array | undefined {
  if (listeners.length === 0) return undefined;
  const advertised = listeners.map(({ advertise, protocol, groups, bindInterface }) => ({
    address: advertise,
    protocol,
    groups: [...groups],
    localBinding: bindInterface,
  }));
  return toBinary(ListenersSchema, create(ListenersSchema, { listeners: advertised }));
}

/** Addresses at which controllers may dial this router, as protobuf; undefined without open listeners. */
export function advertisedControlListeners(
  open: readonly Pick<ControlListenerSettings, 'advertise' | 'groups'>[],
): Uint8Array | undefined {
  if (open.length === 0) return undefined;
  const listeners = open.map(({ advertise, groups }) => ({ address: advertise, groups: [...groups] }));
  return toBinary(CtrlChanListenersSchema, create(CtrlChanListenersSchema, { listeners }));
}

/**
 * Options of a binding's circuit ends: from its listener for tunnels, else from its last dialers entry, else the
 * defaults.
 */
export function xgressOptionsFor({ listeners, dialers }: RouterConfig, binding: string): XgressOptions {
  const listener = listeners.find((each) => each.binding === binding);
  if (listener?.binding === 'tunnel' || listener?.binding === 'edge') return listener.options;
  return dialers.findLast((dialer) => dialer.binding === binding)?.options ?? defaultXgressOptions();
}

/** Milliseconds between reports of the sessions in use. */
export function sessionHeartbeatInterval({ edge }: RouterConfig): number {
  return (edge?.heartbeatIntervalSeconds ?? HEARTBEAT_SECONDS) * SECOND;
}

/** For edge listeners with a `wss:` address. */
export function webSocketSettings({ transport: { wss } }: RouterConfig): WebSocketSettings {
  return {
    readTimeout: wss.readTimeout * SECOND,
    writeTimeout: wss.writeTimeout * SECOND,
    idleTimeout: wss.idleTimeout * SECOND,
    pongTimeout: wss.pongTimeout * SECOND,
    pingInterval: wss.pingInterval * SECOND,
    handshakeTimeout: wss.handshakeTimeout * SECOND,
    readBufferSize: wss.readBufferSize,
    writeBufferSize: wss.writeBufferSize,
    enableCompression: wss.enableCompression,
  };
}

export function httpProxy(proxy: ProxyConfig | undefined): HttpProxy | undefined {
  if (proxy?.type !== 'http' || !proxy.address) return undefined;
  return { ...proxy.address, username: proxy.username, password: proxy.password };
}
