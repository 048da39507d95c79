// The events of one management channel: its subscriptions, in the protocol of the reference's command line.

import { describeError } from '#lib/errors.ts';
import { parseJson } from '#lib/json/json.ts';
import { ownValue } from '#lib/json/own-value.ts';
import { ManagementHeader, ManagementType } from '#wire/gen/numbers.ts';
import { asReply, Message, resultMessage } from '#wire/message.ts';
import { countOptions } from './entity-counts.ts';
import {
  type Event,
  type Events,
  type Namespace,
  namespaceOf,
  namespaceProblem,
  type SubscribeOptions,
} from './events.ts';
import { includes } from './include.ts';
import { isFiltered, type MetricFilterOptions, metricFilter } from './metric-filter.ts';
import { usageOptions, withKinds } from './usage.ts';

/** Limit on the subscriptions of a channel. A client needs one for each type of event. */
const MAX_SUBSCRIPTIONS = 100;
/** Limit on those with regular expressions, each of which looks at all metrics. */
const MAX_FILTERS = 10;

type SubscriptionOptions = MetricFilterOptions &
  Parameters<typeof usageOptions>[0] &
  Parameters<typeof countOptions>[0];

interface StreamRequest {
  readonly format?: string;
  readonly subscriptions?: readonly { readonly type?: string; readonly options?: SubscriptionOptions | null }[];
}

/** Events of one namespace, and the part of each that the client wants; undefined for none. */
interface Subscription {
  readonly namespace: Namespace;
  readonly options: SubscribeOptions;
  readonly isFiltered: boolean;
  select(event: Event): Event | undefined;
}

/** The client of a stream. */
export interface EventChannel {
  /** False for a client that has gone or does not read. */
  isWritable(): boolean;
  send(message: Message): void;
  /** Ends the channel and tells the client why. */
  close(reason: string): void;
}

/** The JSON of an event, as long as it exists: subscriptions of many clients send the same. */
const encoded = new WeakMap<Event, Buffer>();

export class EventStream {
  readonly #events: Events;
  readonly #channel: EventChannel;
  readonly #subscribed: (() => void)[] = [];
  #filters = 0;

  constructor(events: Events, channel: EventChannel) {
    this.#events = events;
    this.#channel = channel;
  }

  close(): void {
    for (const unsubscribe of this.#subscribed.splice(0)) unsubscribe();
  }

  /**
   * Answers a request for events. The caller has loaded the engine of regular expressions. reference fact: its
   * subscriptions are added to those of earlier requests, and each sends its own events.
   */
  request(message: Message): void {
    const answer = (isDone: boolean, text: string) => this.#channel.send(asReply(message, resultMessage(isDone, text)));
    let subscriptions: Subscription[];
    try {
      subscriptions = readSubscriptions(message);
    } catch (error) {
      answer(false, describeError(error));
      return;
    }
    if (this.#subscribed.length + subscriptions.length > MAX_SUBSCRIPTIONS) {
      answer(false, `a channel has at most ${MAX_SUBSCRIPTIONS} subscriptions`);
      return;
    }
    const filters = this.#filters + subscriptions.filter((each) => each.isFiltered).length;
    if (filters > MAX_FILTERS) {
      answer(false, `a channel has at most ${MAX_FILTERS} subscriptions with filters of metrics`);
      return;
    }
    this.#filters = filters;
    answer(true, 'success');
    for (const subscription of subscriptions) this.#subscribe(subscription);
  }

  #subscribe({ namespace, options, select }: Subscription): void {
    const listener = (emitted: Event) => {
      const event = this.#channel.isWritable() ? select(emitted) : undefined;
      if (!event) return;
      const headers = [[ManagementHeader.EventType, headerOf(event, namespace)]] as const;
      this.#channel.send(new Message(ManagementType.Event, headers, bodyOf(event)));
    };
    this.#subscribed.push(this.#events.subscribe(listener, [namespace], options));
  }
}

function bodyOf(event: Event): Buffer {
  const known = encoded.get(event);
  if (known) return known;
  const body = Buffer.from(JSON.stringify(event));
  encoded.set(event, body);
  return body;
}

/** reference fact: the header names the type of an event, mostly as the namespace does. */
function headerOf({ version }: Event, namespace: Namespace): string {
  if (namespace === 'entityChange') return 'entity.change';
  return namespace === 'usage' && version === 3 ? 'usage.v3' : namespace;
}

/** Throws Error for a request that is not JSON, another format, or invalid options. */
function readSubscriptions(message: Message): Subscription[] {
  const { format, subscriptions } = (parseJson(message.body.toString()) ?? {}) as StreamRequest;
  if ((format ?? 'json') !== 'json') throw new Error(`invalid format ['${format}']`);
  return [...(subscriptions ?? [])].map(({ type = '', options }) => {
    const namespace = namespaceOf(type);
    if (!namespace) throw new Error(`the event type ${JSON.stringify(type)} is unknown. ${namespaceProblem(type)}`);
    return subscription(namespace, type, options ?? {});
  });
}

/** reference fact: the namespace of the events for an older name is that name, except for these. */
const OLDER: Readonly<Record<string, string>> = {
  services: 'service.events',
  'edge.authentications': 'authentication',
};

function subscription(namespace: Namespace, name: string, options: SubscriptionOptions): Subscription {
  const { select, ...common } = { namespace, ...selection(namespace, options) };
  if (name === namespace) return { ...common, select };
  const older = (ownValue(OLDER, name) ?? name) as Namespace;
  return {
    ...common,
    select: (event) => {
      const selected = select(event);
      return selected && { ...selected, namespace: older };
    },
  };
}

function selection(namespace: Namespace, options: SubscriptionOptions): Omit<Subscription, 'namespace'> {
  if (namespace === 'metrics') return { options: {}, isFiltered: isFiltered(options), select: metricFilter(options) };
  if (namespace === 'usage') {
    const { version, kinds } = usageOptions(options);
    return { options: { usageVersion: version }, isFiltered: false, select: (event) => withKinds(event, kinds) };
  }
  if (namespace === 'entityCount')
    return { options: countOptions(options), isFiltered: false, select: (event) => event };
  const isIncluded = includes(namespace, options.include);
  return { options: {}, isFiltered: false, select: (event) => (isIncluded(event) ? event : undefined) };
}
