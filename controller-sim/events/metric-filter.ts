// The filter of a metric subscription: one regular expression for source routers, one for metric names with their
// figures, such as `link.latency.p50` (reference fact: the options of its command line).

import { within } from '#lib/bounded.ts';
import type { Event } from './events.ts';

export interface MetricFilterOptions {
  readonly sourceFilter?: unknown;
  readonly metricFilter?: unknown;
}

type Matches = (text: string) => boolean;

/**
 * Time limit in milliseconds for one name. A good expression needs microseconds, but a busy machine may suspend the
 * process for a while.
 */
const LONGEST_LOOK = 500;
const MOST_KNOWN = 10_000;
/** Characters of a cached name. Names of the router are much shorter. */
const LONGEST_KNOWN = 256;

/** Returns the matching part of an event, or undefined if nothing matches. Throws Error for an invalid expression. */
export function metricFilter({
  sourceFilter,
  metricFilter: nameFilter,
}: MetricFilterOptions = {}): (event: Event) => Event | undefined {
  const isSource = matcher('sourceFilter', sourceFilter);
  const isName = matcher('metricFilter', nameFilter);
  return (event) => {
    if (!isSource(String(event.source_id))) return undefined;
    const figures = Object.entries(event.metrics as Readonly<Record<string, number>>).filter(([figure]) =>
      isName(figure === 'value' ? String(event.metric) : `${String(event.metric)}.${figure}`),
    );
    return figures.length === 0 ? undefined : { ...event, metrics: Object.fromEntries(figures) };
  };
}

/**
 * Results are cached, because names repeat. An expression that exceeds its time limit once matches nothing from then
 * on: each such expression delays the simulator only once.
 */
function matcher(name: string, expression: unknown): Matches {
  if (expression === undefined || expression === '') return () => true;
  if (typeof expression !== 'string') throw new Error(`invalid ${name}: a regular expression must be a string`);
  const pattern = new RegExp(expression);
  const known = new Map<string, boolean>();
  let isTooSlow = false;
  const look = (text: string): boolean => {
    try {
      return within(LONGEST_LOOK, () => pattern.test(text));
    } catch {
      isTooSlow = true;
      return false;
    }
  };
  return (text) => {
    if (isTooSlow) return false;
    const found = known.get(text) ?? look(text);
    if (known.size < MOST_KNOWN && text.length <= LONGEST_KNOWN) known.set(text, found);
    return found;
  };
}
