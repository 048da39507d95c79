// Opens edge listeners: for SDK clients over TLS, and for browser clients over WebSocket.

import { formatAddress, joinHostPort } from '#lib/address.ts';
import { Alpn } from '#wire/tls-port.ts';
import type { DataModel } from '../access/data-model.ts';
import type { EdgeListenerConfig } from '../config/router-config.ts';
import { EdgeListener } from '../ingress/edge/edge-listener.ts';
import type { SdkClients } from '../ingress/edge/sdk-clients.ts';
import { WebSocketPort } from '../ingress/edge/websocket-port.ts';
import type { RouterContext } from './context.ts';
import { CAPABILITIES, needsCertificates, webSocketSettings } from './settings.ts';
import type { TlsPorts } from './tls-ports.ts';

/** Opens a configured listener. Rejects with the system's error, IdentityError or ProtocolTakenError. */
export async function openEdgeListener(
  context: RouterContext,
  ports: TlsPorts,
  parts: { model: DataModel; clients: SdkClients; onHello(): () => void },
  config: EdgeListenerConfig,
): Promise<EdgeListener> {
  const { clock, routerId, version, owned } = context;
  const log = context.component('listener.edge');
  const listener = new EdgeListener({ clock, log, routerId, version, capabilities: CAPABILITIES, ...parts }, config);
  const stop =
    config.address.type === 'wss'
      ? await serveWebSockets(context, ports, listener)
      : await serveTls(context, ports, listener);
  const { address, options } = config;
  const { host, port } = options.advertise;
  log.info({ address: formatAddress(address), advertise: joinHostPort(host, port) }, 'edge listener open');
  owned.defer(() => {
    stop();
    listener.close();
  });
  return listener;
}

async function serveTls(
  { config: { transport } }: RouterContext,
  ports: TlsPorts,
  { config: { address }, accept }: EdgeListener,
): Promise<() => void> {
  const port = await ports.at(address.host, address.port);
  const further = transport.protocol && !port.has(transport.protocol) ? [transport.protocol] : [];
  const handled = [Alpn.Edge, Alpn.None, ...further].map((protocol) =>
    port.handle(protocol, (socket) => accept(socket)),
  );
  return () => {
    for (const unhandle of handled) unhandle();
  };
}

/** A dedicated port does not request a client certificate from browsers; a shared port must. */
async function serveWebSockets(
  context: RouterContext,
  ports: TlsPorts,
  { config: { address }, accept }: EdgeListener,
): Promise<() => void> {
  const { clock, config } = context;
  const log = context.component('listener.edge');
  const own = config.transport.wss.identity;
  const identity = own ? await context.openIdentity(own, 'transport.wss.identity') : context.identity;
  const requestCert = needsCertificates(config, address);
  const port = await ports.at(address.host, address.port, { requestCert, identity });
  const opened = new WebSocketPort({ clock, log, port, identity, onClient: accept }, webSocketSettings(config));
  return () => opened.close();
}
