// The listener for SDK connections: takes its port and answers the hello, so that clients learn what this router can do. Dialing and
// hosting for SDKs are not served yet: after the hello the connection is closed, and the router says so once.

import { peerCertificates } from '#lib/certificates.ts';
import type { Clock } from '#lib/clock.ts';
import type { Log } from '#lib/log.ts';
import type { Channel } from '#wire/channel.ts';
import { type AcceptedHello, ChannelListener } from '#wire/channel-listener.ts';
import { HelloRefusedError } from '#wire/errors.ts';
import { ChannelHeader } from '#wire/gen/numbers.ts';
import { Alpn, type TlsPort } from '#wire/tls-port.ts';
import { formatVersionInfo, type VersionInfo } from '#wire/version-info.ts';
import type { EdgeListenerConfig } from '../../config/router-config.ts';

export interface EdgeListenerComponents {
  clock: Clock;
  log: Log;
  port: TlsPort;
  routerId: string;
  version: VersionInfo;
}

export class EdgeListener {
  readonly config: EdgeListenerConfig;
  readonly #listener: ChannelListener;
  readonly #unhandle: (() => void)[];
  readonly #log: Log;
  #told = false;

  constructor(components: EdgeListenerComponents, config: EdgeListenerConfig) {
    this.config = config;
    this.#log = components.log;
    this.#listener = new ChannelListener({
      id: components.routerId,
      clock: components.clock,
      log: components.log,
      helloTimeout: config.options.connectTimeout || 5_000,
      maxHellos: config.options.maxOutstandingConnects,
      check: (accepted) => checkCertificate(accepted),
      answerHeaders: () => [[ChannelHeader.HelloVersion, formatVersionInfo(components.version)]],
      open: () => this.#open(),
    });
    this.#unhandle = [Alpn.Edge, Alpn.None].map((protocol) =>
      components.port.handle(protocol, (socket) => this.#listener.accept(socket)),
    );
  }

  close(): void {
    for (const unhandle of this.#unhandle) unhandle();
    this.#listener.close();
  }

  #open(): Channel {
    if (!this.#told)
      this.#log.warn(
        { binding: 'edge', address: this.config.options.advertise },
        'binding is not served yet: SDK connections are closed after their hello',
      );
    this.#told = true;
    throw new HelloRefusedError('SDK connections are not served yet');
  }
}

function checkCertificate(accepted: AcceptedHello): void {
  if (peerCertificates(accepted.socket).length === 0)
    throw new HelloRefusedError('the client presented no certificate');
}
