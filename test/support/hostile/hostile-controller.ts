// A controller that a test controls, and a whole router that trusts it: both have certificates of one authority. The
// router connects to it as to any other controller.

import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, type TLSSocket } from 'node:tls';
import { silentLog } from '#lib/log/log.ts';
import { IoContext } from '#lib/net/io-context.ts';
import { SystemClock } from '#lib/time/clock.ts';
import { Channel } from '#wire/channel/channel.ts';
import { ChannelListener } from '#wire/channel/channel-listener.ts';
import { controlLanes } from '#wire/channel/control-lanes.ts';
import { formatVersionInfo, ownVersionInfo } from '#wire/channel/version-info.ts';
import { Alpn } from '#wire/connection/tls-port.ts';
import { SubscribeToDataModelRequestSchema } from '#wire/gen/edge_control_pb.js';
import {
  ChannelHeader,
  ControlHeader,
  ControllerCapability,
  EdgeControlHeader,
  EdgeControlType,
} from '#wire/gen/numbers.ts';
import { encodeBitMask } from '#wire/header-values.ts';
import { Message } from '#wire/message.ts';
import { loadRouterConfig } from '../../../agent/config/load.ts';
import { Router } from '../../../agent/router.ts';
import { type Authority, issue, makeAuthority } from '../clients/certificates.ts';
import { until } from '../until.ts';

const MAX_BODY = 64 * 1024 * 1024;
/** Milliseconds. */
const HELLO_TIMEOUT = 60_000;
const QUEUE = 100;
const QUIET = { sendInterval: 1e9, checkInterval: 1e9, closeUnresponsiveTimeout: 0 };

async function credentials(authority: Authority, path: string, purposes: ('client' | 'server')[]) {
  const uris = [`spiffe://network/${path}`];
  const { pem, key } = await issue(authority, path, { uris, purposes, ips: ['127.0.0.1'], hosts: ['localhost'] });
  return { cert: pem, key: key.export({ type: 'pkcs8', format: 'pem' }) as string };
}

export class HostileController {
  readonly router: Router;
  readonly #channels: readonly Channel[];
  readonly #subscriptions: readonly string[];
  readonly #end: () => Promise<void>;

  private constructor(
    router: Router,
    channels: readonly Channel[],
    subscriptions: readonly string[],
    end: () => Promise<void>,
  ) {
    this.router = router;
    this.#channels = channels;
    this.#subscriptions = subscriptions;
    this.#end = end;
  }

  /** Starts both. `more` is added to the configuration of the router. */
  static async start(more = ''): Promise<HostileController> {
    const directory = mkdtempSync(join(tmpdir(), 'edgeweave-test-'));
    const authority = await makeAuthority('network');
    const ca = authority.certificate.toString('pem');
    const own = await credentials(authority, 'controller/hostile', ['server', 'client']);
    const clock = new SystemClock();
    const channels: Channel[] = [];
    const subscriptions: string[] = [];
    const listener = new ChannelListener({
      id: 'hostile',
      io: new IoContext({ clock }),
      log: silentLog,
      helloTimeout: HELLO_TIMEOUT,
      maxHellos: 10,
      check: () => undefined,
      answerHeaders: () => [
        [ChannelHeader.HelloVersion, formatVersionInfo(ownVersionInfo('2.0.0'))],
        [ControlHeader.Capabilities, encodeBitMask([ControllerCapability.JwtLegacySessions])],
      ],
      open: ({ connectionId }) => {
        const channel = new Channel({
          name: 'router',
          peerId: 'router',
          connectionId,
          io: new IoContext({ clock }),
          log: silentLog,
          limits: { maxHeaders: 1 << 16, maxBody: MAX_BODY },
          lanes: controlLanes(QUEUE),
          heartbeat: QUIET,
        });
        channel.on(EdgeControlType.SubscribeToDataModel, (message) =>
          subscriptions.push(message.decode(SubscribeToDataModelRequestSchema).subscriptionId),
        );
        channels.push(channel);
        return channel;
      },
    });
    const server = createServer({ ...own, ca, requestCert: true, ALPNProtocols: [Alpn.Control] });
    server.on('secureConnection', (socket: TLSSocket) => listener.accept(socket));
    server.on('tlsClientError', () => undefined);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const client = await credentials(authority, 'router/r', ['client']);
    const served = await credentials(authority, 'router/r', ['server']);
    const file = (name: string, text: string) => (writeFileSync(join(directory, name), text), join(directory, name));
    const configFile = file(
      'r.yml',
      `v: 3
identity:
  cert: ${file('r.cert', client.cert)}
  key: ${file('r.key', `${client.key}`)}
  server_cert: ${file('r.server.cert', served.cert)}
  server_key: ${file('r.server.key', `${served.key}`)}
  ca: ${file('r.ca', ca)}
ctrl: {endpoint: "tls:127.0.0.1:${(server.address() as AddressInfo).port}"}
csr: {sans: {dns: [localhost], ip: [127.0.0.1]}}
${more}
`,
    );
    const { config, findings } = loadRouterConfig(configFile);
    if (!config) throw new Error(JSON.stringify(findings));
    const router = await Router.start({ config, log: silentLog });
    return new HostileController(router, channels, subscriptions, async () => {
      await router.close();
      listener.close();
      for (const channel of channels) channel.close();
      server.close();
      rmSync(directory, { recursive: true, force: true });
    });
  }

  /** The open channel of the router, which may have to connect again. */
  async channel(): Promise<Channel> {
    await until('the router to connect', () => this.#channels.at(-1)?.isClosed === false);
    return this.#channels.at(-1) as Channel;
  }

  /** Resolves when the router has requested the data model. */
  async subscribed(): Promise<void> {
    await until('the router to subscribe', () => this.#subscriptions.length > 0);
  }

  /** A message that the router takes for one of its subscription, if its type is that of a data model or a change. */
  message(type: number, body: Uint8Array): Message {
    return new Message(type, [[EdgeControlHeader.SubscriptionId, this.#subscriptions.at(-1) ?? '']], body);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#end();
  }
}
