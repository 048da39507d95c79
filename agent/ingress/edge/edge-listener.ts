// A listener for SDK clients: their hellos, and the channels that they become. Who they are and what they may do is decided by
// SdkClients (reference fact: edge, section 1).

import type { TLSSocket } from 'node:tls';
import { verifyChain } from '#lib/certificate-chain.ts';
import { peerCertificates } from '#lib/certificates.ts';
import type { Clock } from '#lib/clock.ts';
import type { Log } from '#lib/log.ts';
import { Channel } from '#wire/channel.ts';
import { type AcceptedHello, ChannelListener } from '#wire/channel-listener.ts';
import { HelloRefusedError } from '#wire/errors.ts';
import { ChannelHeader, RouterCapability, SdkHeader } from '#wire/gen/numbers.ts';
import { encodeBitMask, TRUE } from '#wire/header-values.ts';
import { ONLY_ANSWERS } from '#wire/heartbeat.ts';
import type { HeaderEntries } from '#wire/message.ts';
import { formatVersionInfo, type VersionInfo } from '#wire/version-info.ts';
import type { DataModel } from '../../access/data-model.ts';
import type { EdgeListenerConfig } from '../../config/router-config.ts';
import type { SdkClients } from './sdk-clients.ts';
import { CONTROL_LANE, DATA_LANE, SdkUnderlay } from './sdk-connection.ts';

export interface EdgeListenerComponents {
  clock: Clock;
  log: Log;
  routerId: string;
  version: VersionInfo;
  model: DataModel;
  clients: SdkClients;
  /** For figures: a hello begins, and is over when the returned function is called. */
  onHello(): () => void;
}

/** A Data message of an SDK has at most some tens of KiB; a message of several parts is larger. */
const LIMITS = { maxHeaders: 64 * 1024, maxBody: 16 * 1024 * 1024 };
/** Bytes of the name that a client gives itself. */
const LONGEST_NAME = 256;
/** Frames of requests and answers that wait beside those of data. */
const CONTROL_QUEUE = 256;
/** Eight bytes long thanks to its highest bit: the C SDK reads a short mask wrongly (reference fact: edge, section 1). */
const CAPABILITIES = encodeBitMask([
  RouterCapability.MultiChannel,
  RouterCapability.ConnectV2,
  RouterCapability.ServiceSubscriptions,
  RouterCapability.PostureChecks,
  RouterCapability.BindSuccess,
  RouterCapability.RouterDataModel,
]);

export class EdgeListener {
  readonly config: EdgeListenerConfig;
  readonly #components: EdgeListenerComponents;
  readonly #listener: ChannelListener;

  constructor(components: EdgeListenerComponents, config: EdgeListenerConfig) {
    this.config = config;
    this.#components = components;
    this.#listener = new ChannelListener({
      id: components.routerId,
      clock: components.clock,
      log: components.log,
      helloTimeout: config.options.connectTimeout || 5_000,
      maxHellos: config.options.maxOutstandingConnects,
      onHello: components.onHello,
      check: (accepted) => this.#check(accepted),
      answerHeaders: () => this.#answerHeaders(),
      open: (accepted) => this.#open(accepted),
    });
  }

  /** Takes a client; `network` is the connection that carries its TLS, when that is another one. */
  readonly accept = (socket: TLSSocket, network?: TLSSocket): void => this.#listener.accept(socket, network);

  close(): void {
    this.#listener.close();
  }

  /** The certificate must come from the network; whether it fits to the session is looked at afterwards. Dates count there, too. */
  #check({ socket }: AcceptedHello): void {
    const roots = this.#components.model.clientRoots();
    if (roots.length === 0) throw new HelloRefusedError('no controller has said yet which authorities sign clients');
    const verdict = verifyChain(peerCertificates(socket), roots);
    if (!verdict.ok) throw new HelloRefusedError(verdict.reason);
  }

  #answerHeaders(): HeaderEntries {
    return [
      [ChannelHeader.HelloVersion, formatVersionInfo(this.#components.version)],
      [SdkHeader.SupportsBindSuccess, TRUE],
      [SdkHeader.SupportsPostureChecks, TRUE],
      [SdkHeader.RouterCapabilities, CAPABILITIES],
    ];
  }

  #open({ hello, socket, remoteAddress, connectionId, grouped }: AcceptedHello): Channel {
    const { clock, log, clients } = this.#components;
    const { outQueueSize, lookupApiSessionTimeout } = this.config.options;
    const channel = new Channel({
      name: `SDK client ${remoteAddress}`,
      peerId: hello.body.toString('utf8', 0, LONGEST_NAME),
      connectionId,
      clock,
      log,
      limits: LIMITS,
      lanes: {
        [DATA_LANE]: { types: grouped ? [SdkUnderlay.Default] : [''], queueLimit: Math.max(1, outQueueSize) },
        [CONTROL_LANE]: {
          types: grouped ? [SdkUnderlay.Control, SdkUnderlay.Default] : [''],
          queueLimit: CONTROL_QUEUE,
        },
      },
      heartbeat: ONLY_ANSWERS,
      ...(grouped && { essentialType: SdkUnderlay.Default }),
    });
    const token = hello.string(SdkHeader.SessionToken) ?? '';
    clients.accept(channel, token, peerCertificates(socket), lookupApiSessionTimeout);
    return channel;
  }
}
