// The management channels of the fabric API, and the answers to their requests: events, inspections, validations.

import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { create, toBinary } from '@bufbuild/protobuf';
import type { WebSocket, WebSocketServer } from 'ws';
import { limitShortFrames, MESSAGE_PARTS } from '#http/websocket-frames.ts';
import { background } from '#lib/background.ts';
import { describeError } from '#lib/errors.ts';
import { TaskQueue } from '#lib/queue/task-queue.ts';
import { loadPatterns } from '#lib/text/linear-pattern.ts';
import type { InspectResponse } from '#schemas/api/gen/answers.ts';
import { InspectRequestSchema, InspectResponseSchema } from '#wire/gen/management_pb.js';
import { ChannelType, ManagementType } from '#wire/gen/numbers.ts';
import { Message, resultMessage } from '#wire/message.ts';
import { EventStream } from '../../events/stream.ts';
import { inspect } from '../../network/inspect/inspect.ts';
import type { EntityKind } from '../../state/kinds.ts';
import type { Origin } from '../../state/origin.ts';
import type { ApiServices } from '../operations/context.ts';
import { ManagementChannel, MESSAGE_LIMITS } from './management-channel.ts';
import type { ValidationComponents } from './validate/validation.ts';
import { startValidation } from './validate/validations.ts';

const MAX_CHANNELS = 100;
/** Limit in bytes on data that waits for the clients of all channels: beyond it, those with the most are closed. */
const MAX_UNREAD_BYTES = 64 * 1024 * 1024;
/** Limits on inspections and validations of all channels: each asks many routers and may wait a minute for them. */
const MAX_RUNNING = 10;
const MAX_WAITING = 1_000;
/** Milliseconds without traffic before TCP keep-alive probes: a vanished peer must not count as a channel. */
const KEEP_ALIVE = 30_000;
/** Bytes of a websocket frame: a message and its head. */
const FRAME_LENGTH = MESSAGE_LIMITS.maxHeaders + MESSAGE_LIMITS.maxBody + 64;

/** Milliseconds between notes that the session of an open channel is in use. */
const ACTIVITY_INTERVAL = 60_000;
/** Kinds of entities that the right to a channel depends on. */
const RIGHTS: ReadonlySet<EntityKind> = new Set([
  'identity',
  'apiSession',
  'authenticator',
  'revocation',
  'externalJwtSigner',
]);

/** The client of a channel, and its session. */
export interface ChannelOwner {
  /** The author of changes that it requests. */
  readonly origin: Origin;
  /** Whether it may still use the channel. */
  readonly isEntitled: () => boolean;
  readonly noteActivity: () => void;
}

export type ManagementComponents = ValidationComponents &
  Pick<ApiServices, 'clock' | 'wireClock' | 'io' | 'events' | 'cluster' | 'peers'>;

export class ManagementChannels {
  readonly #services: ManagementComponents;
  readonly #queue: TaskQueue;
  readonly #owners = new Map<ManagementChannel, ChannelOwner>();
  readonly #unsubscribe: () => void;
  /** Created for the first channel. */
  #server: Promise<WebSocketServer> | undefined;

  constructor(services: ManagementComponents) {
    this.#services = services;
    const { wireClock: clock } = services;
    this.#queue = new TaskQueue({ name: 'management requests', length: MAX_WAITING, workers: MAX_RUNNING, clock });
    this.#unsubscribe = services.state.subscribe('derived', ({ changes }) => {
      if (changes.some(({ kind }) => RIGHTS.has(kind))) this.#closeUnentitled();
    });
  }

  async close(): Promise<void> {
    this.#unsubscribe();
    await this.#queue.close();
    const server = await this.#server;
    for (const socket of server?.clients ?? []) socket.terminate();
    server?.close();
  }

  /** Serves a connection of an authorized client until it loses its session or its rights. */
  async accept(request: IncomingMessage, socket: Duplex, head: Buffer, owner: ChannelOwner): Promise<void> {
    const limits = { maxPayload: FRAME_LENGTH, ...MESSAGE_PARTS };
    this.#server ??= import('ws').then((ws) => new ws.WebSocketServer({ noServer: true, ...limits }));
    const server = await this.#server;
    if (server.clients.size >= MAX_CHANNELS) {
      socket.end('HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\n\r\n', () => socket.destroy());
      return;
    }
    request.socket.setKeepAlive(true, KEEP_ALIVE);
    server.handleUpgrade(request, socket, head, (opened) => this.#serve(opened, owner));
  }

  #serve(socket: WebSocket, owner: ChannelOwner): void {
    const { clock, wireClock, log, events } = this.#services;
    const { origin, noteActivity } = owner;
    limitShortFrames(socket, wireClock, () =>
      log.info(
        { client: origin.author.name },
        'management channel closed: the client keeps sending frames without data',
      ),
    );
    const makeSpace = () => this.#makeSpace();
    const components = { clock: wireClock, log, origin, makeSpace };
    const channel: ManagementChannel = new ManagementChannel(socket, components, (message) =>
      this.#answer(channel, stream, message),
    );
    const stream = new EventStream(events, channel);
    const activity = clock.every('session of a management channel', ACTIVITY_INTERVAL, noteActivity);
    this.#owners.set(channel, owner);
    channel.closed.addEventListener(
      'abort',
      () => {
        stream.close();
        activity.cancel();
        this.#owners.delete(channel);
      },
      { once: true },
    );
    // The session may have ended during the upgrade.
    this.#closeUnentitled();
  }

  #makeSpace(): void {
    const channels = [...this.#owners.keys()];
    let unread = channels.reduce((sum, each) => sum + each.unread, 0);
    while (unread > MAX_UNREAD_BYTES) {
      const slowest = channels.reduce((one, other) => (other.unread > one.unread ? other : one));
      unread -= slowest.unread;
      channels.splice(channels.indexOf(slowest), 1);
      slowest.terminate();
      const { name } = this.#owners.get(slowest)?.origin.author ?? {};
      this.#services.log.info({ name }, 'closed a management channel: its client does not read, and others wait');
    }
  }

  #closeUnentitled(): void {
    for (const [channel, { isEntitled, origin }] of this.#owners) {
      if (isEntitled()) continue;
      const { name } = origin.author;
      this.#services.log.info({ name }, 'closed a management channel: its client lost its session or its rights');
      channel.close('the session or the right to this channel has ended');
    }
  }

  #answer(channel: ManagementChannel, stream: EventStream, message: Message): void {
    const { contentType } = message;
    if (contentType === ManagementType.StreamEvents) void this.#subscribe(channel, stream, message);
    else if (contentType === ManagementType.Inspect) this.#inspect(channel, message);
    else if (contentType === ChannelType.Latency) channel.reply(message, resultMessage(true));
    // Answer other requests, such as traces, so that the client does not wait.
    else if (!startValidation({ services: this.#services, queue: this.#queue }, channel, message))
      channel.reply(message, resultMessage(false, `requests of type ${contentType} are not supported`));
  }

  async #subscribe({ closed }: ManagementChannel, stream: EventStream, message: Message): Promise<void> {
    await loadPatterns();
    if (!closed.aborted) stream.request(message);
  }

  #inspect(channel: ManagementChannel, message: Message): void {
    const { appRegex, requestedValues } = message.decode(InspectRequestSchema);
    const values = () => inspect(this.#services, appRegex, requestedValues);
    const answer = this.#queue
      .add(values, { signal: channel.closed })
      .then(inspected)
      .catch((error: unknown) => resultMessage(false, describeError(error)))
      .then((result) => channel.reply(message, result));
    background(this.#services.log, 'inspection over a management channel', answer);
  }
}

function inspected({ success, errors, values }: InspectResponse): Message {
  const texts = (values ?? []).map(({ value, ...rest }) => ({
    ...rest,
    value: typeof value === 'string' ? value : JSON.stringify(value),
  }));
  const answer = create(InspectResponseSchema, { success, errors: [...(errors ?? [])], values: texts });
  return new Message(ManagementType.InspectResponse, [], toBinary(InspectResponseSchema, answer));
}
