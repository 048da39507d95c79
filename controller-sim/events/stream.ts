// The events of one management channel: its subscriptions, in the protocol of the reference's command line.

import { describeError } from '#lib/errors.ts';
import { parseJson } from '#lib/json.ts';
import { ownValue } from '#lib/own-value.ts';
import { ManagementHeader, ManagementType } from '#wire/gen/numbers.ts';
import { asReply, Message, resultMessage } from '#wire/message.ts';
import { type Event, type Events, type Namespace, namespaceOf, type UsageVersion } from './events.ts';
import { includes } from './include.ts';
import { type MetricFilterOptions, metricFilter } from './metric-filter.ts';
import { usageOptions, withKinds } from './usage.ts';

/** Limit on the subscriptions of a channel. A client needs one for each type of event. */
const MOST_SUBSCRIPTIONS = 100;

type SubscriptionOptions = MetricFilterOptions & Parameters<typeof usageOptions>[0];

interface StreamRequest {
  readonly format?: string;
  readonly subscriptions?: readonly { readonly type?: string; readonly options?: SubscriptionOptions | null }[];
}

/** Events of one namespace, and the part of each that the client wants; undefined for none. */
interface Subscription {
  readonly namespace: Namespace;
  readonly usageVersion: UsageVersion;
  select(event: Event): Event | undefined;
}

export class EventStream {
  readonly #events: Events;
  readonly #send: (message: Message) => void;
  readonly #subscribed: (() => void)[] = [];

  constructor(events: Events, send: (message: Message) => void) {
    this.#events = events;
    this.#send = send;
  }

  close(): void {
    for (const unsubscribe of this.#subscribed.splice(0)) unsubscribe();
  }

  /**
   * Answers a request for events. reference fact: its subscriptions are added to those of earlier requests, and each
   * sends its own events.
   */
  request(message: Message): void {
    const answer = (isDone: boolean, text: string) => this.#send(asReply(message, resultMessage(isDone, text)));
    let subscriptions: Subscription[];
    try {
      subscriptions = readSubscriptions(message);
    } catch (error) {
      answer(false, describeError(error));
      return;
    }
    if (this.#subscribed.length + subscriptions.length > MOST_SUBSCRIPTIONS) {
      answer(false, `a channel has at most ${MOST_SUBSCRIPTIONS} subscriptions`);
      return;
    }
    answer(true, 'success');
    for (const subscription of subscriptions) this.#subscribe(subscription);
  }

  #subscribe({ namespace, usageVersion, select }: Subscription): void {
    const listener = (emitted: Event) => {
      const event = select(emitted);
      if (!event) return;
      const body = Buffer.from(`${JSON.stringify(event)}\n`);
      this.#send(new Message(ManagementType.Event, [[ManagementHeader.EventType, headerOf(event, namespace)]], body));
    };
    this.#subscribed.push(this.#events.subscribe(listener, [namespace], { usageVersion }));
  }
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
  return [...(subscriptions ?? [])].flatMap(({ type = '', options }) => {
    const namespace = namespaceOf(type);
    // Namespaces that this controller never publishes are accepted and stay silent.
    return namespace ? subscription(namespace, type, options ?? {}) : [];
  });
}

/** reference fact: the namespace of the events for an older name is that name, except for these. */
const OLDER: Readonly<Record<string, string>> = {
  services: 'service.events',
  'edge.authentications': 'authentication',
};

function subscription(namespace: Namespace, name: string, options: SubscriptionOptions): Subscription {
  const { usageVersion, select } = selection(namespace, options);
  if (name === namespace) return { namespace, usageVersion, select };
  const older = (ownValue(OLDER, name) ?? name) as Namespace;
  return {
    namespace,
    usageVersion,
    select: (event) => {
      const selected = select(event);
      return selected && { ...selected, namespace: older };
    },
  };
}

function selection(namespace: Namespace, options: SubscriptionOptions): Pick<Subscription, 'usageVersion' | 'select'> {
  if (namespace === 'metrics') return { usageVersion: 2, select: metricFilter(options) };
  if (namespace === 'usage') {
    const { version, kinds } = usageOptions(options);
    return { usageVersion: version, select: (event) => withKinds(event, kinds) };
  }
  const isIncluded = includes(namespace, options.include);
  return { usageVersion: 2, select: (event) => (isIncluded(event) ? event : undefined) };
}
