// Upgrades to event streams, for administrators whose login is complete.

import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { describeError } from '#lib/errors.ts';
import { mayCall } from '../../auth/permissions.ts';
import { presentedCertificates } from '../../auth/presented.ts';
import { sessionOf } from '../../auth/session-of.ts';
import { EventStreams } from '../../events/stream.ts';
import type { ApiServices } from '../http/context.ts';
import { pathOf } from './paths.ts';
import { isPartial } from './steps.ts';

/** reference fact: the path where its command line opens event streams. */
const PATH = '/fabric/v1/ws-api';

export class EventUpgrade {
  readonly #services: ApiServices;
  readonly #streams: EventStreams;

  constructor(services: ApiServices) {
    this.#services = services;
    this.#streams = new EventStreams(services.events, services.log);
  }

  close(): Promise<void> {
    return this.#streams.close();
  }

  /**
   * Opens a stream, or rejects with an HTTP status and ends the connection. HTTP time limits do not apply to streams.
   */
  readonly onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    const refuse = (line: string) =>
      socket.end(`HTTP/1.1 ${line}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`, () => socket.destroy());
    if (pathOf(request.url ?? '') !== PATH) {
      refuse('404 Not Found');
      return;
    }
    const open = async () => {
      if (await this.#mayWatch(request)) await this.#streams.accept(request, socket, head);
      else refuse('401 Unauthorized');
    };
    open().catch((error: unknown) => {
      this.#services.log.error({ error: describeError(error) }, 'an event stream was not opened');
      refuse('500 Internal Server Error');
    });
  };

  async #mayWatch(request: IncomingMessage): Promise<boolean> {
    const services = this.#services;
    const { headers } = request;
    const remoteAddress = request.socket.remoteAddress ?? '';
    const { certificates } = presentedCertificates(services, request.socket as TLSSocket, headers);
    const found = await sessionOf({ services, headers, remoteAddress, certificates });
    return found !== undefined && !isPartial(found.session) && mayCall(found.identity, 'admin');
  }
}
