// A client like an SDK: it logs in with its certificate, lists services, and dials and hosts services over the routers
// that the controller names. It sends no data.

import { ProjectError } from '#lib/errors.ts';
import type { Log } from '#lib/log/log.ts';
import { parseAddress } from '#lib/net/address.ts';
import type { IoContext } from '#lib/net/io-context.ts';
import { Channel } from '#wire/channel/channel.ts';
import { ONLY_ANSWERS } from '#wire/channel/heartbeat.ts';
import { sendHello } from '#wire/channel/hello.ts';
import { dialTls } from '#wire/connection/dial.ts';
import { Alpn } from '#wire/connection/tls-port.ts';
import { Underlay } from '#wire/connection/underlay.ts';
import { ChannelHeader, SdkHeader, SdkType } from '#wire/gen/numbers.ts';
import { encodeUint32, TRUE } from '#wire/header-values.ts';
import { DEFAULT_LANE } from '#wire/lanes/lane-name.ts';
import { type HeaderEntries, Message } from '#wire/message.ts';
import { ApiCaller } from '../../controller-sim/client/api-caller.ts';

export interface ClientFiles {
  readonly name: string;
  readonly certificate: string;
  readonly key: string;
  readonly ca: string;
  /** `https://host:port` of the controller. */
  readonly baseUrl: string;
}

export interface VirtualClientComponents {
  readonly io: IoContext;
  readonly log: Log;
}

interface Session {
  readonly token: string;
  readonly edgeRouters: readonly {
    readonly name: string;
    readonly supportedProtocols: Readonly<Record<string, string>>;
  }[];
}

/** Milliseconds for a connection to a router, a hello and an answer. */
const TIMEOUT = 30_000;
const LIMITS = { maxHeaders: 64 * 1024, maxBody: 16 * 1024 * 1024 };
/** Messages that wait for the router. */
const QUEUE = 1_000;

export class VirtualClient {
  readonly #components: VirtualClientComponents;
  readonly #files: ClientFiles;
  readonly #caller: ApiCaller;
  #token: string | undefined;
  #channel: Channel | undefined;
  #nextConnection = 1;

  constructor(components: VirtualClientComponents, files: ClientFiles) {
    this.#components = components;
    this.#files = files;
    const { baseUrl, ca, certificate: cert, key } = files;
    this.#caller = new ApiCaller({ baseUrl, trust: { ca, cert, key }, clock: components.io.clock });
  }

  async login(): Promise<void> {
    this.#token = undefined;
    const { token } = (await this.#ask('POST', '/authenticate?method=cert', {})) as { token: string };
    this.#token = token;
  }

  async services(): Promise<void> {
    await this.#ask('GET', '/services?limit=100');
  }

  async session(serviceId: string, type: 'Dial' | 'Bind'): Promise<Session> {
    return (await this.#ask('POST', '/sessions', { serviceId, type })) as Session;
  }

  /** Opens a connection to a service over a router, and keeps it. */
  async dial(serviceId: string): Promise<void> {
    const session = await this.session(serviceId, 'Dial');
    await this.#connect(session);
    await this.#connected(SdkType.Connect, session.token);
  }

  /** Hosts a service over a router, and accepts every connection. */
  async bind(serviceId: string): Promise<void> {
    const session = await this.session(serviceId, 'Bind');
    const channel = await this.#connect(session);
    channel.on(SdkType.Dial, (dial) => {
      const headers = [[SdkHeader.ConnectionId, dial.headers.get(SdkHeader.ConnectionId) ?? encodeUint32(0)]] as const;
      channel.reply(dial, new Message(SdkType.DialSuccess, headers));
    });
    await this.#connected(SdkType.Bind, session.token, [[SdkHeader.RouterProvidedConnectionId, TRUE]]);
  }

  async logout(): Promise<void> {
    this.#disconnect();
    await this.#ask('DELETE', '/current-api-session');
    this.#token = undefined;
  }

  /** Closes its connections; the session ends by itself. */
  async close(): Promise<void> {
    this.#disconnect();
    await this.#caller.destroy();
  }

  #disconnect(): void {
    this.#channel?.close();
    this.#channel = undefined;
  }

  /** One connection serves all services. */
  async #connect({ edgeRouters }: Session): Promise<Channel> {
    if (this.#channel?.isClosed === false) return this.#channel;
    const url = edgeRouters.map(({ supportedProtocols }) => supportedProtocols.tls).find((each) => each !== undefined);
    if (url === undefined) throw new ProjectError('NO_ROUTER', 'the session names no router with a TLS listener');
    const { io, log } = this.#components;
    const { certificate: cert, key, ca } = this.#files;
    const { host } = new URL(url);
    const socket = await dialTls({
      address: parseAddress(`tls:${host}`),
      alpn: [Alpn.Edge],
      context: { cert, key, ca },
      timeout: TIMEOUT,
      clock: io.clock,
    });
    const underlay = new Underlay({ socket, io });
    const answer = await sendHello(underlay, 'load', [[SdkHeader.SessionToken, this.#token ?? '']], TIMEOUT);
    const channel = new Channel({
      name: 'router',
      peerId: answer.string(ChannelHeader.ListenerId) ?? '',
      connectionId: answer.string(ChannelHeader.ConnectionId) ?? '',
      io,
      log,
      limits: LIMITS,
      lanes: new Map([[DEFAULT_LANE, { types: [''], queueLimit: QUEUE }]]),
      heartbeat: ONLY_ANSWERS,
    });
    channel.addUnderlay(underlay);
    this.#channel = channel;
    return channel;
  }

  async #connected(type: number, sessionToken: string, headers: HeaderEntries = []): Promise<void> {
    if (!this.#channel) throw new ProjectError('NOT_CONNECTED', 'the client is not connected to a router');
    const id: HeaderEntries = [[SdkHeader.ConnectionId, encodeUint32(this.#nextConnection++)]];
    const reply = await this.#channel.request(new Message(type, [...id, ...headers], sessionToken), {
      timeout: TIMEOUT,
    });
    if (reply.contentType !== SdkType.StateConnected)
      throw new ProjectError('REJECTED', reply.body.toString() || 'the router rejects the connection');
  }

  /** An ended session is a failure of the load: no request logs in again. */
  async #ask(method: string, path: string, body?: object): Promise<unknown> {
    const call = { method, path: `/edge/client/v1${path}`, body, type: 'application/json' };
    const { status, text } = await this.#caller.send(call, this.#token);
    if (status >= 300) throw new ProjectError('REJECTED', rejection(path, status, text));
    return (JSON.parse(text) as { data: unknown }).data;
  }
}

/** Without ids, which would make each reason another one. */
function rejection(path: string, status: number, text: string): string {
  const code = /"code":"(\w+)"/.exec(text)?.[1];
  return `${path.replace(/\?.*/, '')} answers ${status}${code === undefined ? '' : ` ${code}`}`;
}
