// Listeners with the bindings `transport`, `transport_udp`, `proxy` and `proxy_udp`, for clients without an identity.
// The client names the service in the first two, the configuration in the others (reference fact: tunnel, section 2).

import { asError, ProjectError } from '#lib/errors.ts';
import type { Log } from '#lib/log/log.ts';
import type { Address } from '#lib/net/address.ts';
import type { IoContext } from '#lib/net/io-context.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { TlsPort } from '#wire/connection/tls-port.ts';
import type { RouterConfig } from '../../config/router-config.ts';
import type { Controllers } from '../../control/controllers.ts';
import { parseDatagramAddress } from '../../egress/datagram.ts';
import type { CircuitEnds } from '../../xgress/circuit-ends.ts';
import type { DatagramClient } from '../../xgress/clients/datagram-client.ts';
import { type ClientSocket, SocketClient } from '../../xgress/clients/socket-client.ts';
import { DatagramListener, type DatagramSource } from '../listeners/datagram-listener.ts';
import { StreamListener } from '../listeners/stream-listener.ts';
import { parseRequest, readRequestLine, requestAnswer } from './circuit-request.ts';
import { FabricDialer } from './fabric-dialer.ts';

export interface FabricListenerComponents {
  clock: Clock;
  io: IoContext;
  log: Log;
  controllers: Controllers;
  ends: CircuitEnds;
  acceptsCircuits(): boolean;
  /** Returns the TLS port of an address, with the router's identity. */
  tlsPort(host: string, port: number): Promise<TlsPort>;
}

export type FabricListenerConfig = Extract<
  RouterConfig['listeners'][number],
  { binding: 'transport' | 'transport_udp' | 'proxy' | 'proxy_udp' }
>;

/** Milliseconds for a client to read the reason of a rejected request. */
const LINGER = 2_000;
/** Limits of UDP sessions: idle time and sweep interval in milliseconds, as in the reference. */
const UDP_IDLE = { timeout: 60_000, interval: 10_000 };

export class FabricListener {
  readonly binding: FabricListenerConfig['binding'];
  readonly #listener: StreamListener | DatagramListener;

  private constructor(binding: FabricListenerConfig['binding'], listener: StreamListener | DatagramListener) {
    this.binding = binding;
    this.#listener = listener;
  }

  /** Rejects with the system's error, or with ProjectError for an address of an unsupported type. */
  static async open(components: FabricListenerComponents, config: FabricListenerConfig): Promise<FabricListener> {
    const { binding, options } = config;
    const dialer = new FabricDialer(components, { options, hopType: `xgress/${binding}` });
    const listener =
      binding === 'transport_udp' || binding === 'proxy_udp'
        ? await openDatagrams(components, config, dialer)
        : await openStreams(components, config, dialer);
    components.log.info({ binding, address: config.address, port: listener.port }, 'listener open');
    return new FabricListener(binding, listener);
  }

  /** The actual port if the configured one is 0. */
  get port(): number {
    return this.#listener.port;
  }

  /** Stops accepting; open circuits stay. */
  close(): void {
    this.#listener.close();
  }
}

async function openStreams(
  components: FabricListenerComponents,
  config: Extract<FabricListenerConfig, { binding: 'transport' | 'proxy' }>,
  dialer: FabricDialer,
): Promise<StreamListener> {
  const { io, log } = components;
  const serve = (socket: ClientSocket, signal: AbortSignal, reset: () => void) => {
    const client = () => new SocketClient({ socket, reset, halfClose: true, io, log });
    return config.binding === 'proxy'
      ? proxyStream(dialer, config.service, client, signal)
      : serveStream(components, dialer, socket, client, signal);
  };
  const at = await placeOf(components, config.binding, config.address);
  return StreamListener.open(components, { name: config.binding, at, serve });
}

async function placeOf(components: FabricListenerComponents, binding: string, { type, host, port }: Address) {
  if (type === 'tls') return { tls: await components.tlsPort(host, port) };
  if (type === 'tcp') return { host, port };
  throw new ProjectError(
    'LISTENER_ADDRESS',
    `a listener with binding ${binding} supports tcp and tls addresses, not ${type}`,
  );
}

function openDatagrams(
  components: FabricListenerComponents,
  config: Extract<FabricListenerConfig, { binding: 'transport_udp' | 'proxy_udp' }>,
  dialer: FabricDialer,
): Promise<DatagramListener> {
  const { host, port, family } = parseDatagramAddress(config.address);
  return DatagramListener.open(components, {
    name: config.binding,
    host: host === '' ? (family === 6 ? '::' : '0.0.0.0') : host,
    port,
    family: family ?? (host.includes(':') ? 6 : 4),
    limits: UDP_IDLE,
    serve: (client, source, signal) =>
      config.binding === 'proxy_udp'
        ? proxyDatagrams(dialer, config.service, client, source, signal)
        : serveDatagrams(dialer, client, source, signal),
  });
}

async function proxyStream(
  dialer: FabricDialer,
  service: string,
  client: () => SocketClient,
  signal: AbortSignal,
): Promise<void> {
  await dialer.dial({ clientId: '', service, signal }, client());
}

async function serveStream(
  { clock, log }: FabricListenerComponents,
  dialer: FabricDialer,
  socket: ClientSocket,
  client: () => SocketClient,
  signal: AbortSignal,
): Promise<void> {
  try {
    const request = parseRequest(await readRequestLine(socket, clock, signal));
    await dialer.dial({ ...request, signal }, client(), (circuitId) => socket.write(requestAnswer({ circuitId })));
  } catch (error) {
    log.warn({ remote: socket.remoteAddress, error: asError(error).message }, 'circuit request rejected');
    socket.end(requestAnswer({ error: asError(error) }));
    socket.resume(); // unread data would reset the connection before the client reads the answer
    const timer = clock.after('rejected circuit request', LINGER, () => socket.destroy());
    socket.once('close', () => timer.cancel());
  }
}

async function proxyDatagrams(
  dialer: FabricDialer,
  service: string,
  client: DatagramClient,
  source: DatagramSource,
  signal: AbortSignal,
): Promise<void> {
  client.receive(source.first);
  await dialer.dial({ clientId: '', service, signal }, client);
}

async function serveDatagrams(
  dialer: FabricDialer,
  client: DatagramClient,
  source: DatagramSource,
  signal: AbortSignal,
): Promise<void> {
  try {
    const request = parseRequest(source.first);
    await dialer.dial({ ...request, signal }, client, (circuitId) => source.reply(requestAnswer({ circuitId })));
  } catch (error) {
    source.reply(requestAnswer({ error: asError(error) }));
    throw error;
  }
}
