// Proxy mode: a TCP port per listed service; every accepted connection becomes a circuit to that service
// (reference fact: tunnel, sections 3.3 and 3.7).

import { createServer, type Server, type Socket } from 'node:net';
import { background } from '#lib/background.ts';
import type { Clock } from '#lib/clock.ts';
import { describeError, ProjectError } from '#lib/errors.ts';
import type { Log } from '#lib/log.ts';
import { PeerDataKey } from '#wire/gen/numbers.ts';
import type { DataModel } from '../../access/data-model.ts';
import type { Controllers } from '../../control/controllers.ts';
import type { CircuitEnds } from '../../xgress/circuit-ends.ts';
import { EncryptedStream, type KeyPair, makeKeyPair, sessionKeys } from '../../xgress/end-to-end.ts';
import type { XgressOptions } from '../../xgress/options.ts';
import { SocketClient } from '../../xgress/socket-client.ts';
import { requestTunnelCircuit, type TunnelCircuit } from './tunnel-circuits.ts';

export interface ProxyListenerComponents {
  clock: Clock;
  log: Log;
  controllers: Controllers;
  ends: CircuitEnds;
  model: DataModel;
  acceptsCircuits(): boolean;
}

export interface ProxyListenerInit {
  /** Name of the service. */
  service: string;
  host: string;
  port: number;
  options: XgressOptions;
}

/** Connections that wait for their circuit at once; further ones are reset. */
const MOST_WAITING = 1_000;
const HOP_TYPE = 'xgress/tunnel';

export class ProxyListener {
  readonly init: ProxyListenerInit;
  readonly #components: ProxyListenerComponents;
  readonly #server: Server;
  readonly #abort = new AbortController();
  #waiting = 0;

  private constructor(components: ProxyListenerComponents, init: ProxyListenerInit) {
    this.#components = components;
    this.init = init;
    this.#server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket) => this.#onConnection(socket));
  }

  /** Rejects with the system's error when the port cannot be had. */
  static async open(components: ProxyListenerComponents, init: ProxyListenerInit): Promise<ProxyListener> {
    const listener = new ProxyListener(components, init);
    await new Promise<void>((resolve, reject) => {
      listener.#server.once('error', reject);
      listener.#server.listen(init.port, init.host, () => (listener.#server.off('error', reject), resolve()));
    });
    listener.#server.on('error', (error) =>
      components.log.error({ service: init.service, error: describeError(error) }, 'proxy listener failed'),
    );
    components.log.info({ service: init.service, host: init.host, port: listener.port }, 'proxy listener open');
    return listener;
  }

  /** The real port when 0 was asked for. */
  get port(): number {
    const address = this.#server.address();
    return typeof address === 'object' && address ? address.port : 0;
  }

  /** Accepts no more; circuits that are open go on. */
  close(): void {
    this.#abort.abort(new ProjectError('CLOSED', 'the proxy listener is closed'));
    this.#server.close();
  }

  #onConnection(socket: Socket): void {
    const { log } = this.#components;
    const { service } = this.init;
    socket.on('error', () => undefined); // reported by whoever owns the socket then; before a circuit is there nobody needs it
    if (!this.#components.acceptsCircuits() || this.#waiting >= MOST_WAITING) {
      log.warn({ service, waiting: this.#waiting }, 'proxied connection refused');
      socket.resetAndDestroy();
      return;
    }
    this.#waiting++;
    background(
      log,
      'proxied connection',
      this.#serve(socket)
        .catch((error: unknown) => {
          log.warn(
            { service, remote: socket.remoteAddress, error: describeError(error) },
            'proxied connection reset: no circuit',
          );
          socket.resetAndDestroy(); // an end would be an empty stream for the client
        })
        .finally(() => {
          this.#waiting--;
        }),
    );
  }

  async #serve(socket: Socket): Promise<void> {
    const { controllers, ends, model, clock, log } = this.#components;
    const { service, options } = this.init;
    const keys = model.serviceByName(service)?.encryptionRequired ? makeKeyPair() : undefined;
    const circuit = await requestTunnelCircuit(controllers, {
      serviceName: service,
      peerData: this.#peerData(socket, keys),
      timeout: options.getCircuitTimeout,
      signal: this.#abort.signal,
    });
    const encryption = keys && this.#encryption(keys, circuit);
    const client = new SocketClient({ socket, halfClose: true, encryption, clock, log });
    const init = {
      circuitId: circuit.circuitId,
      address: circuit.address,
      role: 'initiator' as const,
      options,
      hopType: HOP_TYPE,
    };
    const xgress = ends.open(init, client, circuit.owner);
    client.attach(xgress);
    xgress.start();
  }

  /** Without a valid key of the host the end cannot be made, and its circuit is removed. */
  #encryption(keys: KeyPair, circuit: TunnelCircuit): EncryptedStream {
    try {
      const peerKey = circuit.peerData.get(PeerDataKey.PublicKey);
      if (!peerKey) throw new ProjectError('ENCRYPTION', 'the service requires encryption and its host sent no key');
      return new EncryptedStream(sessionKeys('dialer', keys, peerKey));
    } catch (error) {
      this.#components.ends.giveUp(circuit.circuitId, 'initiator', circuit.owner);
      throw error;
    }
  }

  #peerData(socket: Socket, keys: KeyPair | undefined): Map<number, Buffer> {
    const appData = { dst_protocol: 'tcp', dst_ip: '0.0.0.0', dst_port: String(this.port) };
    const peerData = new Map<number, Buffer>([
      [PeerDataKey.AppData, Buffer.from(JSON.stringify(appData))],
      [PeerDataKey.InitiatorLocalAddress, Buffer.from(`${socket.localAddress}:${socket.localPort}`)],
      [PeerDataKey.InitiatorRemoteAddress, Buffer.from(`${socket.remoteAddress}:${socket.remotePort}`)],
    ]);
    if (keys) peerData.set(PeerDataKey.PublicKey, keys.publicKey);
    return peerData;
  }
}
