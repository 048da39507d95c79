// Upgrades to management channels: for administrators and identities with the permission `ops`, whose login is
// complete.

import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { describeError } from '#lib/errors.ts';
import type { ClientStream } from '#wire/connection/tls-port.ts';
import { isPartial } from '../../auth/partial-session.ts';
import { mayCall } from '../../auth/permissions.ts';
import { presentedCertificates } from '../../auth/presented.ts';
import { type FoundSession, type SessionComponents, sessionOf } from '../../auth/session-of.ts';
import { isDisabled } from '../../entities/identity.ts';
import type { Identity } from '../../state/kinds/identity.ts';
import type { Origin } from '../../state/origin.ts';
import { type ChannelOwner, ManagementChannels, type ManagementComponents } from '../fabric/management-channels.ts';
import { pathOf } from './paths.ts';

/** reference fact: the path where its command line opens management channels. */
const PATH = '/fabric/v1/ws-api';
const ACCESS = 'ops';
/** The status of an accepted upgrade. */
const SWITCHING = 101;

type UpgradeComponents = SessionComponents & ManagementComponents;

export class ManagementUpgrade {
  readonly #services: UpgradeComponents;
  readonly #channels: ManagementChannels;

  constructor(services: UpgradeComponents) {
    this.#services = services;
    this.#channels = new ManagementChannels(services);
  }

  close(): Promise<void> {
    return this.#channels.close();
  }

  /**
   * Opens a channel, or rejects with an HTTP status and ends the connection. HTTP time limits do not apply to channels.
   * Calls `onAnswer` with the status before it is sent.
   */
  readonly onUpgrade = (
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    onAnswer: (status: number, identity?: Identity) => void,
  ): void => {
    const reject = (line: string) => {
      onAnswer(Number.parseInt(line, 10));
      socket.end(`HTTP/1.1 ${line}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`, () => socket.destroy());
    };
    if (pathOf(request.url ?? '') !== PATH) {
      reject('404 Not Found');
      return;
    }
    const open = async () => {
      const found = await this.#sessionOf(request);
      if (!found) {
        reject('401 Unauthorized');
        return;
      }
      if ((await this.#services.state.others?.isCurrent()) === false) {
        reject('503 Service Unavailable');
        return;
      }
      this.#services.io.unauthenticatedCpu.authenticated(request.socket);
      onAnswer(SWITCHING, found.identity);
      await this.#channels.accept(request, socket, head, this.#ownerOf(found, request));
    };
    open().catch((error: unknown) => {
      this.#services.log.error({ error: describeError(error) }, 'a management channel was not opened');
      reject('500 Internal Server Error');
    });
  };

  /** The session of a caller that may open a channel. reference fact: this needs full access to operations. */
  async #sessionOf(request: IncomingMessage): Promise<FoundSession | undefined> {
    const services = this.#services;
    const { headers } = request;
    const remoteAddress = request.socket.remoteAddress ?? '';
    const { certificates } = presentedCertificates(services, request.socket as ClientStream, headers);
    const found = await sessionOf({ services, headers, remoteAddress, certificates });
    return found && !isPartial(found.session) && mayCall(found.identity, ACCESS) ? found : undefined;
  }

  #ownerOf({ session, identity, hasEnded }: FoundSession, request: IncomingMessage): ChannelOwner {
    const { state, activity, clock } = this.#services;
    return {
      origin: originOf(identity, request),
      noteActivity: () => activity.note(session),
      isEntitled: () => {
        const current = state.tables.identity.get(identity.id);
        return current !== undefined && !isDisabled(current, clock.now()) && mayCall(current, ACCESS) && !hasEnded();
      },
    };
  }
}

function originOf({ id, name }: Identity, { headers, socket }: IncomingMessage): Origin {
  return {
    author: { type: 'identity', id, name },
    source: {
      type: 'websocket',
      auth: 'edge',
      localAddr: headers.host ?? '',
      remoteAddr: socket.remoteAddress ?? '',
    },
  };
}
