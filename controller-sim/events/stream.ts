// Event streams over a websocket, in the protocol of the reference's command line: one channel protocol message in each
// websocket frame, without a hello.

import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { WebSocket, WebSocketServer } from 'ws';
import { describeError } from '#lib/errors.ts';
import { parseJson } from '#lib/json.ts';
import type { Log } from '#lib/log.ts';
import { FrameReader } from '#wire/frame-reader.ts';
import { ChannelType } from '#wire/gen/numbers.ts';
import { asReply, Message, resultMessage } from '#wire/message.ts';
import { type Event, type Events, type Namespace, namespaceOf } from './events.ts';
import { type MetricFilterOptions, metricFilter } from './metric-filter.ts';
import { usageOptions, withKinds } from './usage.ts';

/** reference fact: numbers of the management channel. */
const StreamType = Object.freeze({ EventsRequest: 10_040, Event: 10_041 } as const);
const EVENT_TYPE_HEADER = 10;
const LIMITS = { maxHeaders: 16_384, maxBody: 64 * 1024 };
const MOST_STREAMS = 100;
/** Milliseconds without traffic before TCP keep-alive probes: a vanished peer must not occupy a place. */
const KEEP_ALIVE = 30_000;
/** Limit in bytes on data queued for a slow reader; beyond it the connection is closed. */
const LONGEST_QUEUE = 16 * 1024 * 1024;

const NOTHING = () => undefined;

type SubscriptionOptions = MetricFilterOptions & Parameters<typeof usageOptions>[0];

interface StreamRequest {
  readonly format?: string;
  readonly subscriptions?: readonly { readonly type?: string; readonly options?: SubscriptionOptions | null }[];
}

export class EventStreams {
  readonly #events: Events;
  readonly #log: Log;
  /** Created for the first stream. */
  #server: Promise<WebSocketServer> | undefined;

  constructor(events: Events, log: Log) {
    this.#events = events;
    this.#log = log;
  }

  async close(): Promise<void> {
    const server = await this.#server;
    for (const socket of server?.clients ?? []) socket.terminate();
    server?.close();
  }

  /** Serves a connection of an authorized client. */
  async accept(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    this.#server ??= import('ws').then(
      (ws) => new ws.WebSocketServer({ noServer: true, maxPayload: LIMITS.maxHeaders + LIMITS.maxBody + 64 }),
    );
    const server = await this.#server;
    if (server.clients.size >= MOST_STREAMS) {
      socket.end('HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\n\r\n', () => socket.destroy());
      return;
    }
    request.socket.setKeepAlive(true, KEEP_ALIVE);
    server.handleUpgrade(request, socket, head, (stream) => this.#serve(stream));
  }

  #serve(stream: WebSocket): void {
    let unsubscribe: () => void = NOTHING;
    let sequence = 0;
    const reader = new FrameReader(LIMITS);
    const send = (message: Message) => {
      message.sequence = ++sequence;
      if (stream.bufferedAmount > LONGEST_QUEUE) stream.terminate();
      else stream.send(message.encode());
    };
    stream.on('message', (data: Buffer) => {
      try {
        reader.push(data, (frame) => {
          const message = Message.fromFrame(frame);
          if (message.contentType === StreamType.EventsRequest) {
            unsubscribe();
            unsubscribe = this.#subscribe(message, send);
          } else if (message.contentType === ChannelType.Latency) {
            send(asReply(message, resultMessage(true)));
          } else if (message.replyFor === undefined) {
            // Answer other requests, such as validations, so that the client does not wait.
            send(asReply(message, resultMessage(false, `requests of type ${message.contentType} are not served here`)));
          }
          return true;
        });
      } catch (error) {
        this.#log.info({ error: describeError(error) }, 'event stream closed: the client sent an invalid message');
        stream.terminate();
      }
    });
    stream.on('close', () => unsubscribe());
    stream.on('error', (error) => this.#log.debug({ error: describeError(error) }, 'event stream failed'));
  }

  /** Returns the function that ends the subscription. */
  #subscribe(message: Message, send: (message: Message) => void): () => void {
    const refuse = (why: string) => {
      send(asReply(message, resultMessage(false, why)));
      return NOTHING;
    };
    let request: StreamRequest;
    try {
      request = parseJson(message.body.toString()) as StreamRequest;
    } catch (error) {
      return refuse(describeError(error));
    }
    if ((request.format ?? 'json') !== 'json') return refuse(`invalid format ['${request.format}']`);
    const namespaces: Namespace[] = [];
    let usage = usageOptions({});
    let ofMetrics: (event: Event) => Event | undefined = (event) => event;
    try {
      for (const { type = '', options } of request.subscriptions ?? []) {
        const namespace = namespaceOf(type);
        // Namespaces that this controller never publishes are accepted and stay silent.
        if (namespace) namespaces.push(namespace);
        if (namespace === 'metrics') ofMetrics = metricFilter(options ?? {});
        if (namespace === 'usage') usage = usageOptions(options ?? {});
      }
    } catch (error) {
      return refuse(describeError(error));
    }
    send(asReply(message, resultMessage(true, 'success')));
    if (namespaces.length === 0) return NOTHING;
    return this.#events.subscribe(
      (emitted) => {
        const metric = emitted.namespace === 'metrics' ? ofMetrics(emitted) : emitted;
        const event = metric?.namespace === 'usage' ? withKinds(metric, usage.kinds) : metric;
        if (!event) return;
        const body = Buffer.from(`${JSON.stringify(event)}\n`);
        send(new Message(StreamType.Event, [[EVENT_TYPE_HEADER, event.namespace]], body));
      },
      namespaces,
      { usageVersion: usage.version },
    );
  }
}
