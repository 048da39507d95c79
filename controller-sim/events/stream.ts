// The events of one management channel: its subscription, in the protocol of the reference's command line.

import { describeError } from '#lib/errors.ts';
import { parseJson } from '#lib/json.ts';
import { ManagementHeader, ManagementType } from '#wire/gen/numbers.ts';
import { asReply, Message, resultMessage } from '#wire/message.ts';
import { type Event, type Events, type Namespace, namespaceOf } from './events.ts';
import { type MetricFilterOptions, metricFilter } from './metric-filter.ts';
import { usageOptions, withKinds } from './usage.ts';

const NOTHING = () => undefined;

type SubscriptionOptions = MetricFilterOptions & Parameters<typeof usageOptions>[0];

interface StreamRequest {
  readonly format?: string;
  readonly subscriptions?: readonly { readonly type?: string; readonly options?: SubscriptionOptions | null }[];
}

export class EventStream {
  readonly #events: Events;
  readonly #send: (message: Message) => void;
  #unsubscribe: () => void = NOTHING;

  constructor(events: Events, send: (message: Message) => void) {
    this.#events = events;
    this.#send = send;
  }

  close(): void {
    this.#unsubscribe();
    this.#unsubscribe = NOTHING;
  }

  /** Answers a request for events. It replaces the previous one. */
  request(message: Message): void {
    this.close();
    this.#unsubscribe = this.#subscribe(message);
  }

  /** Returns the function that ends the subscription. */
  #subscribe(message: Message): () => void {
    const reject = (why: string) => {
      this.#send(asReply(message, resultMessage(false, why)));
      return NOTHING;
    };
    let request: StreamRequest;
    try {
      request = parseJson(message.body.toString()) as StreamRequest;
    } catch (error) {
      return reject(describeError(error));
    }
    if ((request.format ?? 'json') !== 'json') return reject(`invalid format ['${request.format}']`);
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
      return reject(describeError(error));
    }
    this.#send(asReply(message, resultMessage(true, 'success')));
    if (namespaces.length === 0) return NOTHING;
    return this.#events.subscribe(
      (emitted) => {
        const metric = emitted.namespace === 'metrics' ? ofMetrics(emitted) : emitted;
        const event = metric?.namespace === 'usage' ? withKinds(metric, usage.kinds) : metric;
        if (!event) return;
        const body = Buffer.from(`${JSON.stringify(event)}\n`);
        this.#send(new Message(ManagementType.Event, [[ManagementHeader.EventType, event.namespace]], body));
      },
      namespaces,
      { usageVersion: usage.version },
    );
  }
}
