// A client of the network, like an SDK: enrolls, logs in with its certificate, connects to a router, dials and hosts
// services. For the client's own flow control it uses the agent's xgress.

import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { Duplex } from 'node:stream';
import type { HttpClient } from '#http/http-client.ts';
import { silentLog } from '#lib/log/log.ts';
import { IoContext } from '#lib/net/io-context.ts';
import { SystemClock } from '#lib/time/clock.ts';
import type { IdentityCreate } from '#schemas/api/gen/bodies.ts';
import { Channel, type FrameHandler } from '#wire/channel/channel.ts';
import { ONLY_ANSWERS } from '#wire/channel/heartbeat.ts';
import { sendHello } from '#wire/channel/hello.ts';
import { dialTls } from '#wire/connection/dial.ts';
import { Underlay } from '#wire/connection/underlay.ts';
import { Frame, removeHeader } from '#wire/frame.ts';
import { ChannelHeader, SdkHeader, SdkType, XgressType } from '#wire/gen/numbers.ts';
import { encodeUint32, TRUE } from '#wire/header-values.ts';
import { DEFAULT_LANE } from '#wire/lanes/lane-name.ts';
import { type HeaderEntries, Message } from '#wire/message.ts';
import { createCsr } from '../../../agent/identity/csr.ts';
import type { Overlay } from '../networks/overlay.ts';
import { codeFlow } from './code-flow.ts';
import { certificateOf, httpClient } from './http.ts';
import { createDevice, type Management } from './management.ts';

const PATIENCE = 30_000;
const LIMITS = { maxHeaders: 64 * 1024, maxBody: 16 * 1024 * 1024 };
/** Key of the header with the id of a traced message. */
export const UUID_HEADER = 128;

export interface Device {
  readonly identityId: string;
  readonly cert: string;
  readonly key: KeyObject;
  readonly http: HttpClient;
}

/** A controller: its management API, and what clients know of it. */
interface Controller {
  readonly management: Pick<Management, 'identities'>;
  readonly simulator: Pick<Overlay['simulator'], 'clientUrl'> & { readonly ca: string };
}

/** An identity with a certificate. `fields` of the identity. */
export async function enrollDevice(
  { management, simulator }: Controller,
  name: string,
  fields: Partial<IdentityCreate> = {},
): Promise<Device> {
  const { id: identityId, token } = await createDevice(management, { name, ...fields });
  const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const csr = createCsr(name, { sans: { dns: [], ip: [], uri: [], email: [] } }, key);
  const { ca } = simulator;
  await using anonymous = httpClient({ ca });
  const path = `${simulator.clientUrl}/enroll?method=ott&token=${token}`;
  const { cert } = await dataOf<{ cert: string }>(anonymous, path, csr, { 'content-type': 'application/x-pem-file' });
  return { identityId, cert, key, http: httpClient({ ca, ...certificateOf({ pem: cert, key }) }) };
}

/** The token of a new legacy session. */
export async function loginLegacy({ simulator }: Pick<Controller, 'simulator'>, { http }: Device): Promise<string> {
  return (await dataOf<{ token: string }>(http, `${simulator.clientUrl}/authenticate?method=cert`, '{}')).token;
}

/** The access token of a new OIDC session. */
export async function loginOidc({ simulator }: Overlay, { http }: Device): Promise<string> {
  const base = `${simulator.baseUrl}/oidc`;
  const { parameters, redemption } = codeFlow();
  const follow = async (path: string, method: 'GET' | 'POST' = 'GET') => {
    const { headers } = await http.send(new URL(path, base), { method });
    return new URL(String(headers.location), base);
  };
  const id = (await follow(`${base}/authorize?${parameters}`)).searchParams.get('authRequestID') ?? '';
  const after = await follow(`${base}/login/cert?id=${id}`, 'POST');
  const code = (await follow(after.href)).searchParams.get('code') ?? '';
  const { bytes } = await http.send(`${base}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams(redemption(code)).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  return (JSON.parse(bytes.toString()) as { access_token: string }).access_token;
}

/** The token of a service session. */
export async function serviceSession(
  { simulator }: Overlay,
  { http }: Device,
  token: string,
  serviceId: string,
  type: 'Dial' | 'Bind',
): Promise<string> {
  const authorization = token.startsWith('ey') ? { authorization: `Bearer ${token}` } : { 'zt-session': token };
  const session = JSON.stringify({ serviceId, type });
  return (await dataOf<{ token: string }>(http, `${simulator.clientUrl}/sessions`, session, authorization)).token;
}

/** The data of a successful answer to a POST of JSON, or of what the headers say. */
async function dataOf<T>(http: HttpClient, url: string, body: string, headers = {}): Promise<T> {
  const sent = { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } };
  const { status, bytes } = await http.send(url, sent);
  if (status >= 300) throw new Error(bytes.toString());
  return (JSON.parse(bytes.toString()) as { data: T }).data;
}

export interface Received {
  readonly data: string;
  readonly flags: number;
  /** The id of a traced message, in hexadecimal digits. */
  readonly uuid: string | undefined;
}

/** Messages received for one connection id. */
export class SdkConn {
  readonly id: number;
  readonly received: Received[] = [];
  closed: Message | undefined;
  readonly #channel: Channel;

  constructor(channel: Channel, id: number) {
    this.#channel = channel;
    this.id = id;
  }

  get text(): string {
    return this.received.map(({ data }) => data).join('');
  }

  /** The combined flags of all messages. */
  get flags(): number {
    return this.received.reduce((all, { flags }) => all | flags, 0);
  }

  send(data: string | Buffer, headers: HeaderEntries = []): void {
    this.#channel.send(new Message(SdkType.Data, [[SdkHeader.ConnectionId, encodeUint32(this.id)], ...headers], data));
  }

  close(): void {
    this.#channel.send(new Message(SdkType.StateClosed, [[SdkHeader.ConnectionId, encodeUint32(this.id)]]));
  }
}

/** A connection to a router. */
export class SdkClient {
  readonly channel: Channel;
  readonly hello: Message;
  readonly conns = new Map<number, SdkConn>();
  /** Frames of circuits with the client's own flow control, by content type. */
  readonly frames: Frame[] = [];
  onDial: ((dial: Message) => void) | undefined;
  /** Receive circuit frames of these types in place of `frames`. */
  readonly frameHandlers = new Map<number, FrameHandler>();
  #nextId = 1;

  private constructor(channel: Channel, hello: Message) {
    this.channel = channel;
    this.hello = hello;
    channel.on(SdkType.Data, (message) => {
      const conn = this.conns.get(message.uint32(SdkHeader.ConnectionId) ?? -1);
      const uuid = message.headers.get(UUID_HEADER)?.toString('hex');
      conn?.received.push({ data: message.body.toString(), flags: message.uint32(SdkHeader.Flags) ?? 0, uuid });
    });
    channel.on(SdkType.StateClosed, (message) => {
      const conn = this.conns.get(message.uint32(SdkHeader.ConnectionId) ?? -1);
      if (conn) conn.closed = message;
    });
    channel.on(SdkType.Dial, (message) => this.onDial?.(message));
    for (const type of [XgressType.Payload, XgressType.Acknowledgement, XgressType.Control])
      channel.onFrame(type, (frame) => {
        const handler = this.frameHandlers.get(type);
        if (handler) handler(frame);
        else this.frames.push(removeHeader(new Frame(Buffer.from(frame.bytes)), SdkHeader.ConnectionId));
      });
  }

  /** Rejects if the router does not answer the hello. */
  static async connect(
    port: number,
    { cert, key }: Pick<Device, 'cert' | 'key'>,
    token: string,
    headers: HeaderEntries = [],
  ): Promise<SdkClient> {
    const socket = await dialTls({
      address: { type: 'tls', host: '127.0.0.1', port },
      context: { cert, key: key.export({ type: 'pkcs8', format: 'pem' }), rejectUnauthorized: false } as object,
      timeout: PATIENCE,
      clock: new SystemClock(),
    });
    return SdkClient.over(socket, token, headers);
  }

  /** Sends the hello over a connection. Rejects if the router does not answer it. */
  static async over(socket: Duplex, token: string, headers: HeaderEntries = []): Promise<SdkClient> {
    const clock = new SystemClock();
    const underlay = new Underlay({ socket, io: new IoContext({ clock }) });
    const hello = await sendHello(underlay, 'test', [[SdkHeader.SessionToken, token], ...headers], PATIENCE);
    const channel = new Channel({
      name: 'router',
      peerId: hello.string(ChannelHeader.ListenerId) ?? '',
      connectionId: hello.string(ChannelHeader.ConnectionId) ?? '',
      io: new IoContext({ clock }),
      log: silentLog,
      limits: LIMITS,
      lanes: new Map([[DEFAULT_LANE, { types: [''], queueLimit: 100_000 }]]),
      heartbeat: ONLY_ANSWERS,
    });
    const client = new SdkClient(channel, hello);
    channel.addUnderlay(underlay);
    return client;
  }

  /** Sends a request and returns the reply. */
  ask(type: number, headers: HeaderEntries, body: string | Buffer = ''): Promise<Message> {
    return this.channel.request(new Message(type, headers, body), { timeout: PATIENCE });
  }

  /** Registers and returns the connection with this id. */
  conn(id: number = this.#nextId++): SdkConn {
    const conn = this.conns.get(id) ?? new SdkConn(this.channel, id);
    this.conns.set(id, conn);
    return conn;
  }

  /** Dials with the token of a service session. */
  async dial(token: string, headers: HeaderEntries = []): Promise<{ conn: SdkConn; answer: Message }> {
    const conn = this.conn();
    const answer = await this.ask(
      SdkType.Connect,
      [[SdkHeader.ConnectionId, encodeUint32(conn.id)], ...headers],
      token,
    );
    return { conn, answer };
  }

  /** Dials a service by name. */
  async dialByName(name: string, headers: HeaderEntries = []): Promise<{ conn: SdkConn; answer: Message }> {
    const conn = this.conn();
    const answer = await this.ask(SdkType.ConnectV2, [
      [SdkHeader.ConnectionId, encodeUint32(conn.id)],
      [SdkHeader.ServiceIdentifier, name],
      [SdkHeader.ServiceIdentifierType, Buffer.of(1)],
      ...headers,
    ]);
    return { conn, answer };
  }

  /** Hosts a service; incoming connections go to `serve`. */
  async bind(token: string, serve: (conn: SdkConn) => void, headers: HeaderEntries = []): Promise<Message> {
    const conn = this.conn();
    this.onDial = (dial) => {
      const accepted = this.conn(dial.uint32(SdkHeader.RouterProvidedConnectionId) ?? -1);
      serve(accepted);
      this.channel.reply(
        dial,
        new Message(SdkType.DialSuccess, [
          [SdkHeader.ConnectionId, dial.headers.get(SdkHeader.ConnectionId) ?? encodeUint32(conn.id)],
        ]),
      );
    };
    return this.ask(
      SdkType.Bind,
      [[SdkHeader.ConnectionId, encodeUint32(conn.id)], [SdkHeader.RouterProvidedConnectionId, TRUE], ...headers],
      token,
    );
  }

  close(): void {
    this.channel.close();
  }
}
