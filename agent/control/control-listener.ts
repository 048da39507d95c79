// `ctrl.listeners`: accepts control channels that controllers dial. Such a channel carries every control request, so
// the peer must prove that it is a controller: its certificate must chain to `identity.ca` and name it
// (`spiffe://…/controller/ID`). The reference accepts any certificate.

import type { Log } from '#lib/log/log.ts';
import type { IoContext } from '#lib/net/io-context.ts';
import { subjectAltNames } from '#pki/certificates.ts';
import type { Channel } from '#wire/channel/channel.ts';
import { type AcceptedHello, ChannelListener } from '#wire/channel/channel-listener.ts';
import { type TrustedAuthorities, trustedLeaf } from '#wire/channel/peer-certificate.ts';
import { Alpn, type TlsPort } from '#wire/connection/tls-port.ts';
import { HelloRejectedError } from '#wire/errors.ts';
import type { HeaderEntries } from '#wire/message.ts';
import { type ControlDialInit, controllerFrom, helloHeaders } from './control-dial.ts';
import type { Controllers } from './controllers.ts';

export interface ControlListenerComponents {
  io: IoContext;
  log: Log;
  port: TlsPort;
  identity: { readonly id: string } & TrustedAuthorities;
  controllers: Controllers;
  /** For metrics: called when a hello begins; the returned function is called when it ends. */
  onHello(): () => void;
}

export interface ControlListenerSettings extends ControlDialInit {
  /** Milliseconds for a hello. */
  readonly helloTimeout: number;
  readonly maxOutstandingConnects: number;
  /** The listen address, with the actual port: `tls:host:port`. */
  readonly bind: string;
  /** The address that controllers are told, with the actual port: `tls:host:port`. */
  readonly advertise: string;
  readonly groups: readonly string[];
}

export class ControlListener {
  readonly settings: ControlListenerSettings;
  readonly #components: ControlListenerComponents;
  readonly #listener: ChannelListener;
  readonly #unhandle: () => void;

  /** Starts to accept. @throws ProtocolTakenError if the port already has such a listener. */
  constructor(components: ControlListenerComponents, settings: ControlListenerSettings) {
    const { identity, io, log, port, onHello } = components;
    this.#components = components;
    this.settings = settings;
    this.#listener = new ChannelListener({
      id: identity.id,
      io,
      log,
      helloTimeout: settings.helloTimeout,
      maxHellos: settings.maxOutstandingConnects,
      onHello,
      check: (accepted) => this.#check(accepted),
      answerHeaders: () => this.#answerHeaders(),
      open: (accepted) => this.#open(accepted),
    });
    this.#unhandle = port.handle(Alpn.Control, { accept: (socket) => this.#listener.accept(socket) });
  }

  /** Stops accepting connections. Open channels stay. */
  close(): void {
    this.#unhandle();
    this.#listener.close();
  }

  #check({ hello, socket }: AcceptedHello): void {
    const { identity, io } = this.#components;
    const leaf = trustedLeaf(socket, identity, io.clock.now());
    const id = hello.body.toString();
    const names = subjectAltNames(leaf).uri.filter((uri) => uri.toLowerCase().startsWith('spiffe:'));
    // With several names, the certificate could belong to any of them; the SPIFFE standard forbids it.
    if (names.length > 1)
      throw new HelloRejectedError(`the certificate has ${names.length} SPIFFE names instead of one`);
    if (id === '' || controllerIn(names[0] ?? '') !== id)
      throw new HelloRejectedError(`the certificate does not belong to controller ${id}`);
  }

  #answerHeaders(): HeaderEntries {
    return helloHeaders(this.settings);
  }

  /** Handlers are notified of the controller once its connection has joined the channel. */
  #open({ hello, remoteAddress, connectionId }: AcceptedHello): Channel {
    const { controllers, io, log } = this.#components;
    const address = `tls:${remoteAddress}`;
    const received = { id: hello.body.toString(), connectionId, headers: hello };
    const controller = controllerFrom({ io, log }, this.settings, address, received);
    if (!controllers.accept(controller))
      throw new HelloRejectedError(`controller ${controller.id} is already connected`);
    return controller.channel;
  }
}

/** Returns the id in `spiffe://DOMAIN/controller/ID`; undefined for other names. */
function controllerIn(uri: string): string | undefined {
  return /^spiffe:\/\/[^/]+\/controller\/([^/]+)$/.exec(uri)?.[1];
}
