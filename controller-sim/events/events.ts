// Events in the reference's format: JSON objects with a namespace, published to the subscribers of that namespace.

import { describeError } from '#lib/errors.ts';
import { ownValue } from '#lib/json/own-value.ts';
import type { Log } from '#lib/log/log.ts';
import { boolean, checkOptions, type OptionCheck, OptionError } from '#lib/options.ts';
import { type Subscription as EndOfSubscription, subscription } from '#lib/subscription.ts';
import { didYouMean } from '#lib/text/suggestion.ts';
import type { Clock } from '#lib/time/clock.ts';
import { LAST_MOMENT, timeText } from '#lib/time/duration.ts';

/** reference fact: HTTP behaviour, Events. */
export const NAMESPACES = [
  'alert',
  'apiSession',
  'authentication',
  'circuit',
  'cluster',
  'connect',
  'entityChange',
  'entityCount',
  'link',
  'metrics',
  'router',
  'sdk',
  'service',
  'session',
  'terminator',
  'usage',
] as const;

export type Namespace = (typeof NAMESPACES)[number];

export interface Event {
  readonly namespace: Namespace;
  readonly event_src_id: string;
  /** RFC 3339. */
  readonly timestamp: string;
  readonly [key: string]: unknown;
}

/** An event. `at`: milliseconds since the epoch; default: now, also for times that RFC 3339 cannot express. */
export function eventOf(
  { clock, controllerId }: { readonly clock: Clock; readonly controllerId: string },
  namespace: Namespace,
  fields: Readonly<Record<string, unknown>>,
  at = clock.now(),
): Event {
  const timestamp = timeText(at >= 0 && at <= LAST_MOMENT ? at : clock.now());
  return { namespace, event_src_id: controllerId, timestamp, ...fields };
}

export type EventListener = (event: Event) => void;

/** Usage has two formats: one event for each kind of traffic of a circuit (2), or one for all of them (3). */
export type UsageVersion = 2 | 3;

export interface SubscribeOptions {
  /** Default: 2. */
  readonly usageVersion?: UsageVersion;
  /** Milliseconds between two events of `entityCount`, at least 1,000; default: five minutes. */
  readonly countInterval?: number;
  /** Whether members of a cluster that do not lead publish `entityCount` too; default: false. */
  readonly countAlways?: boolean;
}

export type CountOptions = Required<Pick<SubscribeOptions, 'countInterval' | 'countAlways'>>;

/** Calls the listener with counts of entities until the returned function is called. */
export type CountSource = (listener: EventListener, options: CountOptions) => () => void;

/** Milliseconds, as in the reference. */
const COUNT_INTERVAL = 300_000;
/** Milliseconds. */
export const MIN_COUNT_INTERVAL = 1_000;

const SUBSCRIBE_CHECKS: Readonly<Record<keyof SubscribeOptions, OptionCheck>> = {
  usageVersion: (value) => (value === 2 || value === 3 ? undefined : 'It must be 2 or 3.'),
  countInterval: (value) =>
    Number.isSafeInteger(value) && Number(value) >= MIN_COUNT_INTERVAL
      ? undefined
      : `It must be a whole number of milliseconds, at least ${MIN_COUNT_INTERVAL}.`,
  countAlways: boolean,
};

interface Subscription {
  readonly listener: EventListener;
  readonly namespaces: ReadonlySet<Namespace>;
  readonly usageVersion: UsageVersion;
  /** Ends the counts of entities for it. */
  readonly stopCounts: (() => void) | undefined;
}

/** Older namespaces that clients use to subscribe. */
const ALIASES: Readonly<Record<string, Namespace>> = {
  'edge.apiSessions': 'apiSession',
  'edge.authentications': 'authentication',
  'edge.entityCounts': 'entityCount',
  'edge.sessions': 'session',
  'fabric.circuits': 'circuit',
  'fabric.links': 'link',
  'fabric.routers': 'router',
  'fabric.terminators': 'terminator',
  'fabric.usage': 'usage',
  services: 'service',
};

/** The namespace for a name or an older name; undefined for unknown names. */
export function namespaceOf(name: string): Namespace | undefined {
  return NAMESPACES.find((each) => each === name) ?? ownValue(ALIASES, name);
}

/** The error message for an unknown event type; undefined for a known one. */
export function namespaceProblem(name: unknown): string | undefined {
  if (typeof name === 'string' && namespaceOf(name)) return undefined;
  const meant = didYouMean(String(name), NAMESPACES);
  return `Event types: ${NAMESPACES.join(', ')}.${meant && ` D${meant.slice(1)}`}`;
}

export class Events {
  readonly #log: Log;
  readonly #subscriptions = new Set<Subscription>();
  #counts: CountSource | undefined;

  constructor(log: Log) {
    this.#log = log;
  }

  /** Subscriptions of `entityCount` are served by this source: each has its own interval. */
  countWith(source: CountSource): void {
    this.#counts = source;
  }

  close(): void {
    for (const { stopCounts } of this.#subscriptions) stopCounts?.();
    this.#subscriptions.clear();
  }

  /**
   * Calls `listener` with each event of the namespaces (all by default), until the subscription ends. Throws
   * OptionError for an unknown namespace, because its listener would never be called.
   */
  subscribe(
    listener: EventListener,
    namespaces: readonly Namespace[] = [],
    options: SubscribeOptions = {},
  ): EndOfSubscription {
    checkOptions('subscribe', options, SUBSCRIBE_CHECKS);
    const { usageVersion = 2, countInterval = COUNT_INTERVAL, countAlways = false } = options;
    const known = namespaces.map((name) => {
      const problem = namespaceProblem(name);
      if (problem !== undefined) throw new OptionError(`subscribe: the namespace "${name}" is unknown. ${problem}`);
      return namespaceOf(name) ?? name;
    });
    const wanted = new Set(known.length > 0 ? known : NAMESPACES);
    const onCount = (event: Event) => this.#call(listener, event);
    const stopCounts = wanted.has('entityCount') ? this.#counts?.(onCount, { countInterval, countAlways }) : undefined;
    const added = { listener, namespaces: wanted, usageVersion, stopCounts };
    this.#subscriptions.add(added);
    return subscription(() => {
      stopCounts?.();
      this.#subscriptions.delete(added);
    });
  }

  /** Whether a namespace has listeners: otherwise expensive events need not be built. */
  hasListeners(namespace: Namespace): boolean {
    for (const { namespaces } of this.#subscriptions) if (namespaces.has(namespace)) return true;
    return false;
  }

  emit(event: Event): void {
    for (const { listener, namespaces, usageVersion } of this.#subscriptions) {
      if (!namespaces.has(event.namespace)) continue;
      if (event.namespace === 'usage' && event.version !== usageVersion) continue;
      this.#call(listener, event);
    }
  }

  #call(listener: EventListener, event: Event): void {
    try {
      listener(event);
    } catch (error) {
      this.#log.warn({ error: describeError(error) }, 'an event listener failed');
    }
  }
}
