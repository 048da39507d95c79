// A router that exists only on its control channel: it connects, reports links, confirms routes, creates terminators
// and asks for circuits, and forwards nothing. Thousands of them fit in a process.

import { create, toBinary } from '@bufbuild/protobuf';
import { background } from '#lib/background.ts';
import { ProjectError, TimeoutError } from '#lib/errors.ts';
import type { Log } from '#lib/log/log.ts';
import { parseAddress } from '#lib/net/address.ts';
import type { IoContext } from '#lib/net/io-context.ts';
import { Channel } from '#wire/channel/channel.ts';
import { SINGLE_CONTROL_LANE } from '#wire/channel/control-lanes.ts';
import { DEFAULT_HEARTBEAT } from '#wire/channel/heartbeat.ts';
import { sendHello } from '#wire/channel/hello.ts';
import { formatVersionInfo, ownVersionInfo } from '#wire/channel/version-info.ts';
import { dialTls } from '#wire/connection/dial.ts';
import { Alpn } from '#wire/connection/tls-port.ts';
import { Underlay } from '#wire/connection/underlay.ts';
import { RouterLinksSchema, RouteSchema } from '#wire/gen/control_pb.js';
import {
  ClientHelloSchema,
  CreateTerminatorResult,
  CreateTunnelCircuitV2RequestSchema,
  CreateTunnelCircuitV2ResponseSchema,
  CreateTunnelTerminatorRequestV2Schema,
  TerminatorPrecedence,
} from '#wire/gen/edge_control_pb.js';
import {
  ChannelHeader,
  ControlHeader,
  ControlType,
  EdgeControlHeader,
  EdgeControlType,
  RouteHeader,
} from '#wire/gen/numbers.ts';
import { encodeUint32, encodeUint64, TRUE } from '#wire/header-values.ts';
import { Message } from '#wire/message.ts';
import { decodeAnswer, type TerminatorAnswer } from '../../agent/ingress/terminators/terminator-messages.ts';

export interface RouterFiles {
  readonly id: string;
  readonly name: string;
  readonly certificate: string;
  readonly key: string;
  /** The authorities that it trusts. */
  readonly ca: string;
  /** `tls:host:port` */
  readonly controlAddress: string;
}

export interface VirtualRouterInit {
  readonly files: RouterFiles;
  readonly io: IoContext;
  readonly log: Log;
  /** The version that it reports; default: that of this program. */
  readonly version: string | undefined;
  /** Milliseconds before a route is confirmed. */
  readonly answerDelay: number;
}

/** Milliseconds for a connection, a hello and an answer. */
const TIMEOUT = 30_000;
const LIMITS = { maxHeaders: 1024 * 1024, maxBody: 16 * 1024 * 1024 };
/** Bits of RouterCapability: none. */
const NO_CAPABILITIES = Buffer.of(0);

export class VirtualRouter {
  readonly #init: VirtualRouterInit;
  #channel: Channel | undefined;
  #iteration = 0;
  /** Waits for the answer about a terminator, by its id. */
  readonly #binds = new Map<string, (answer: TerminatorAnswer) => void>();

  constructor(init: VirtualRouterInit) {
    this.#init = init;
  }

  get isConnected(): boolean {
    return this.#channel?.isClosed === false;
  }

  /** Resolves when the controller has accepted the hello. */
  async connect(): Promise<void> {
    this.disconnect();
    const { files, io, log, version } = this.#init;
    const { certificate: cert, key, ca } = files;
    const socket = await dialTls({
      address: parseAddress(files.controlAddress),
      alpn: [Alpn.Control],
      context: { cert, key, ca },
      timeout: TIMEOUT,
      clock: io.clock,
    });
    const underlay = new Underlay({ socket, io });
    const own = ownVersionInfo('0.0.0');
    const headers: [number, Uint8Array | string][] = [
      [ChannelHeader.HelloVersion, formatVersionInfo(version === undefined ? own : { ...own, version })],
      [ControlHeader.Capabilities, NO_CAPABILITIES],
    ];
    const answer = await sendHello(underlay, files.id, headers, TIMEOUT);
    const channel = new Channel({
      name: 'the control channel',
      peerId: answer.string(ChannelHeader.ListenerId) ?? '',
      connectionId: answer.string(ChannelHeader.ConnectionId) ?? '',
      io,
      log,
      limits: LIMITS,
      lanes: SINGLE_CONTROL_LANE,
      heartbeat: DEFAULT_HEARTBEAT,
    });
    this.#answer(channel);
    channel.addUnderlay(underlay);
    this.#channel = channel;
  }

  disconnect(): void {
    this.#channel?.close();
    this.#channel = undefined;
  }

  /** Reports links that it dialed to these routers. */
  async link(others: readonly string[]): Promise<void> {
    const { files } = this.#init;
    this.#iteration += 1;
    const links = others.map((destRouterId) => ({
      id: `${files.id}-${destRouterId}`,
      destRouterId,
      linkProtocol: 'tls',
      dialAddress: `tls:${destRouterId}.invalid:3022`,
      iteration: this.#iteration,
    }));
    const body = toBinary(RouterLinksSchema, create(RouterLinksSchema, { links, fullRefresh: true }));
    this.#open().send(new Message(ControlType.RouterLinks, [], body));
  }

  /** Creates a terminator of its tunneler for a service. The controller answers with a message of its own. */
  async bind(serviceId: string): Promise<void> {
    const { io, files } = this.#init;
    const { clock } = io;
    const id = `${files.id}-${serviceId}`;
    const request = create(CreateTunnelTerminatorRequestV2Schema, {
      serviceId,
      address: id,
      precedence: TerminatorPrecedence.DEFAULT,
      startTime: BigInt(Math.round(clock.now())),
    });
    const body = toBinary(CreateTunnelTerminatorRequestV2Schema, request);
    const { promise, resolve, reject } = Promise.withResolvers<TerminatorAnswer>();
    const timer = clock.after('terminator', TIMEOUT, () => reject(new TimeoutError('the answer to a bind', TIMEOUT)));
    this.#binds.set(id, resolve);
    try {
      this.#open().send(new Message(EdgeControlType.CreateTunnelTerminatorV2, [], body));
      const { result, msg } = await promise;
      if (result !== CreateTerminatorResult.SUCCESS) throw new ProjectError('TERMINATOR', msg || 'terminator rejected');
    } finally {
      timer.cancel();
      this.#binds.delete(id);
    }
  }

  /** Asks for a circuit to a service. */
  async dial(serviceName: string): Promise<void> {
    const body = toBinary(
      CreateTunnelCircuitV2RequestSchema,
      create(CreateTunnelCircuitV2RequestSchema, { serviceName }),
    );
    const reply = await this.#ask(new Message(EdgeControlType.CreateTunnelCircuitV2, [], body));
    if (reply.contentType !== EdgeControlType.CreateTunnelCircuitV2Response)
      throw new ProjectError('CIRCUIT', reply.body.toString() || 'circuit rejected');
    reply.decode(CreateTunnelCircuitV2ResponseSchema);
  }

  #ask(message: Message): Promise<Message> {
    return this.#open().request(message, { timeout: TIMEOUT });
  }

  #open(): Channel {
    if (!this.#channel || this.#channel.isClosed)
      throw new ProjectError('NOT_CONNECTED', 'the router is not connected');
    return this.#channel;
  }

  #answer(channel: Channel): void {
    const { io, log, answerDelay, files } = this.#init;
    channel.on(EdgeControlType.ServerHello, (message) => {
      const hello = create(ClientHelloSchema, { version: 'v2.0.0', hostname: files.name });
      const headers: [number, Uint8Array][] = [
        [EdgeControlHeader.RouterDataModel, TRUE],
        [EdgeControlHeader.RouterDataModelIndex, encodeUint64(0n)],
      ];
      channel.reply(message, new Message(EdgeControlType.ClientHello, headers, toBinary(ClientHelloSchema, hello)));
    });
    channel.on(EdgeControlType.CreateTunnelTerminatorV2Response, (message) => {
      const answer = decodeAnswer(message);
      this.#binds.get(answer.terminatorId)?.(answer);
    });
    channel.on(ControlType.Route, (message) => {
      const { circuitId, attempt } = message.decode(RouteSchema);
      const headers = [
        [RouteHeader.Attempt, encodeUint32(attempt)],
        [RouteHeader.Success, TRUE],
      ] as const;
      const reply = () => {
        if (!channel.isClosed) channel.reply(message, new Message(ControlType.RouteResult, headers, circuitId));
      };
      if (answerDelay === 0) reply();
      else background(log, 'slow router', io.clock.sleep(answerDelay, { name: 'slow router' }).then(reply));
    });
  }
}
