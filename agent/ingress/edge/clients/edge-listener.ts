// A listener for SDK clients: it checks their hellos and opens their channels. SdkClients authenticates and authorizes
// them (reference fact: edge, section 1).

import type { Socket } from 'node:net';
import type { Log } from '#lib/log/log.ts';
import type { IoContext } from '#lib/net/io-context.ts';
import { BufferBudget } from '#lib/queue/buffer-budget.ts';
import { verifyChain } from '#pki/certificate-chain.ts';
import { peerCertificates } from '#pki/certificates.ts';
import { Channel } from '#wire/channel/channel.ts';
import { type AcceptedHello, ChannelListener } from '#wire/channel/channel-listener.ts';
import { ONLY_ANSWERS } from '#wire/channel/heartbeat.ts';
import { formatVersionInfo, type VersionInfo } from '#wire/channel/version-info.ts';
import type { FrameLimits } from '#wire/connection/frame-reader.ts';
import type { TlsConnection } from '#wire/connection/threads/threaded-tls.ts';
import { HelloRejectedError } from '#wire/errors.ts';
import { ChannelHeader, SdkHeader, SdkType, XgressType } from '#wire/gen/numbers.ts';
import { TRUE } from '#wire/header-values.ts';
import type { LanePolicy } from '#wire/lanes/send-lanes.ts';
import type { HeaderEntries } from '#wire/message.ts';
import type { DataModel } from '../../../access/data-model.ts';
import type { EdgeListenerConfig } from '../../../config/router-config.ts';
import type { SdkClients } from './sdk-clients.ts';
import { CONTROL_LANE, DATA_LANE, SdkUnderlay } from './sdk-connection.ts';

export interface EdgeListenerComponents {
  io: IoContext;
  log: Log;
  routerId: string;
  version: VersionInfo;
  /** A mask of RouterCapability. */
  capabilities: Buffer;
  model: DataModel;
  clients: SdkClients;
  /** For metrics: called when a hello begins; the returned function is called when it ends. */
  onHello(): () => void;
}

/** Bytes of the data in a message of an SDK: some tens of KiB, but a multi-part message is larger. */
const MAX_DATA = 16 * 1024 * 1024;
/** Bytes of the answer of an SDK to an inspection. */
const MAX_INSPECTION = 1024 * 1024;
/** Bytes of the posture of a device: its processes, interfaces and tokens. */
const MAX_POSTURE = 256 * 1024;
/** Bytes of any other message of an SDK: dials, binds, tokens, reasons. */
const MAX_MESSAGE = 64 * 1024;
const LIMITS: FrameLimits = {
  maxHeaders: 64 * 1024,
  maxBody: MAX_MESSAGE,
  maxBodies: new Map<number, number>([
    [SdkType.Data, MAX_DATA],
    [XgressType.Payload, MAX_DATA],
    [SdkType.InspectResponse, MAX_INSPECTION],
    [SdkType.ConnectionInspectResponse, MAX_INSPECTION],
    [SdkType.PostureResponses, MAX_POSTURE],
  ]),
};
/** Bytes of the name in a client's hello. */
const MAX_NAME_LENGTH = 256;
/** Bytes of all circuits of one client that wait for it. */
const MAX_CLIENT_QUEUE = 4 * 1024 * 1024;
/** Queued request and answer frames; data frames have their own queue. */
const CONTROL_QUEUE = 256;

export class EdgeListener {
  readonly config: EdgeListenerConfig;
  readonly #components: EdgeListenerComponents;
  readonly #listener: ChannelListener;

  constructor(components: EdgeListenerComponents, config: EdgeListenerConfig) {
    this.config = config;
    this.#components = components;
    this.#listener = new ChannelListener({
      id: components.routerId,
      io: components.io,
      log: components.log,
      helloTimeout: config.options.connectTimeout || 5_000,
      maxHellos: config.options.maxOutstandingConnects,
      onHello: components.onHello,
      check: (accepted) => this.#check(accepted),
      answerHeaders: () => this.#answerHeaders(),
      open: (accepted) => this.#open(accepted),
    });
  }

  /** Accepts a client; `network` is the connection that carries its TLS, if that differs from `socket`. */
  readonly accept = (socket: TlsConnection, network?: Socket): void => this.#listener.accept(socket, network);

  close(): void {
    this.#listener.close();
  }

  /** Requires a certificate of the network. Its dates and its match with the session are checked later. */
  #check({ socket }: AcceptedHello): void {
    const roots = this.#components.model.clientRoots();
    if (roots.length === 0) throw new HelloRejectedError('no controller has sent the client authorities yet');
    const verdict = verifyChain(peerCertificates(socket), roots);
    if (!verdict.ok) throw new HelloRejectedError(verdict.reason);
  }

  #answerHeaders(): HeaderEntries {
    return [
      [ChannelHeader.HelloVersion, formatVersionInfo(this.#components.version)],
      [SdkHeader.SupportsBindSuccess, TRUE],
      [SdkHeader.SupportsPostureChecks, TRUE],
      [SdkHeader.RouterCapabilities, this.#components.capabilities],
    ];
  }

  #open({ hello, socket, remoteAddress, connectionId, grouped }: AcceptedHello): Channel {
    const { io, log, clients } = this.#components;
    const { outQueueSize, writeTimeout, lookupApiSessionTimeout } = this.config.options;
    const data: LanePolicy = {
      types: grouped ? [SdkUnderlay.Default] : [''],
      queueLimit: outQueueSize,
      flows: new BufferBudget(MAX_CLIENT_QUEUE),
    };
    const control: LanePolicy = {
      types: grouped ? [SdkUnderlay.Control, SdkUnderlay.Default] : [''],
      queueLimit: CONTROL_QUEUE,
    };
    const channel = new Channel({
      name: `SDK client ${remoteAddress}`,
      peerId: hello.body.toString('utf8', 0, MAX_NAME_LENGTH),
      connectionId,
      io,
      log,
      limits: LIMITS,
      lanes: new Map([
        [DATA_LANE, data],
        [CONTROL_LANE, control],
      ]),
      answerLane: CONTROL_LANE,
      heartbeat: ONLY_ANSWERS,
      reuseMemory: true,
      writeTimeout,
      ...(grouped && { essentialType: SdkUnderlay.Default }),
    });
    const token = hello.string(SdkHeader.SessionToken) ?? '';
    clients.accept(channel, token, peerCertificates(socket), lookupApiSessionTimeout);
    return channel;
  }
}
