// Opens edge listeners: for SDK clients over TLS, and for browser clients over WebSocket.

import { formatAddress, joinHostPort } from '#lib/net/address.ts';
import { Alpn, type TlsPort } from '#wire/connection/tls-port.ts';
import type { DataModel } from '../access/data-model.ts';
import type { EdgeListenerConfig } from '../config/router-config.ts';
import type { Identity } from '../identity/identity.ts';
import { EdgeListener } from '../ingress/edge/clients/edge-listener.ts';
import type { SdkClients } from '../ingress/edge/clients/sdk-clients.ts';
import { WebSocketPort } from '../ingress/edge/clients/websocket-port.ts';
import type { RouterContext } from './context.ts';
import { CAPABILITIES, edgeListenerSettings, needsCertificates, webSocketSettings } from './settings.ts';
import type { TlsPorts } from './tls-ports.ts';

/** Opens a configured listener. Rejects with the system's error, IdentityError or ProtocolTakenError. */
export async function openEdgeListener(
  context: RouterContext,
  ports: TlsPorts,
  parts: { model: DataModel; clients: SdkClients; onHello(): () => void },
  config: EdgeListenerConfig,
): Promise<EdgeListener> {
  const { io, routerId, version, owned } = context;
  const log = context.component('listener.edge');
  const isWebSocket = config.address.type === 'wss';
  const identity = isWebSocket ? await webSocketIdentity(context) : context.identity;
  const port = await openPort(context, ports, config, identity);
  const settings = edgeListenerSettings(config, port.address.port);
  const listener = new EdgeListener({ io, log, routerId, version, capabilities: CAPABILITIES, ...parts }, settings);
  const stop = isWebSocket ? serveWebSockets(context, port, identity, listener) : serveTls(context, port, listener);
  const { address, options } = settings;
  const { advertise } = options;
  log.info(
    { address: formatAddress(address), advertise: joinHostPort(advertise.host, advertise.port) },
    'edge listener open',
  );
  owned.defer(() => {
    stop();
    listener.close();
  });
  return listener;
}

function openPort(
  { config }: RouterContext,
  ports: TlsPorts,
  { address }: EdgeListenerConfig,
  identity: Identity,
): Promise<TlsPort> {
  if (address.type !== 'wss') return ports.at(address.host, address.port);
  // A dedicated port does not request a client certificate from browsers; a shared port must.
  return ports.at(address.host, address.port, { requestCert: needsCertificates(config, address), identity });
}

function serveTls({ config: { transport } }: RouterContext, port: TlsPort, { accept }: EdgeListener): () => void {
  const further = transport.protocol && !port.has(transport.protocol) ? [transport.protocol] : [];
  const handled = [Alpn.Edge, Alpn.None, ...further].map((protocol) =>
    port.handle(protocol, { accept: (socket) => accept(socket) }),
  );
  return () => {
    for (const unhandle of handled) unhandle();
  };
}

function webSocketIdentity(context: RouterContext): Promise<Identity> | Identity {
  const own = context.config.transport.wss.identity;
  return own ? context.openIdentity(own, 'transport.wss.identity') : context.identity;
}

function serveWebSockets(
  context: RouterContext,
  port: TlsPort,
  identity: Identity,
  { accept }: EdgeListener,
): () => void {
  const { io, config } = context;
  const log = context.component('listener.edge');
  const opened = new WebSocketPort({ io, log, port, identity, onClient: accept }, webSocketSettings(config));
  return () => opened.close();
}
