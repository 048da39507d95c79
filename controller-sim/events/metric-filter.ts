// The filter of a metric subscription: one regular expression for source routers, one for metric names with their
// figures, such as `link.latency.p50` (reference fact: the options of its command line).

import { BoundedMap } from '#lib/queue/bounded-map.ts';
import { LinearPattern } from '#lib/text/linear-pattern.ts';
import type { Event } from './events.ts';

export interface MetricFilterOptions {
  readonly sourceFilter?: unknown;
  readonly metricFilter?: unknown;
}

/** Instructions of an expression: it is matched with the names of all metrics. */
const MAX_INSTRUCTIONS = 200;
/** Cached results of an expression, because names repeat. */
const MAX_KNOWN = 2_000;
/** Characters of a cached name. */
const MAX_KNOWN_LENGTH = 256;

type Matches = (text: string) => boolean;

/** Whether the options contain an expression. */
export function isFiltered({ sourceFilter, metricFilter: nameFilter }: MetricFilterOptions): boolean {
  return [sourceFilter, nameFilter].some((each) => each !== undefined && each !== '');
}

/**
 * Returns the matching part of an event, or undefined if nothing matches. The caller has loaded the engine of regular
 * expressions. Throws Error for an invalid expression.
 */
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

function matcher(name: string, expression: unknown): Matches {
  if (expression === undefined || expression === '') return () => true;
  if (typeof expression !== 'string') throw new Error(`invalid ${name}: a regular expression must be a string`);
  const { matches } = new LinearPattern(expression, MAX_INSTRUCTIONS);
  const known = new BoundedMap<string, boolean>(MAX_KNOWN);
  return (text) => {
    const found = known.get(text) ?? matches(text);
    if (text.length <= MAX_KNOWN_LENGTH) known.set(text, found);
    return found;
  };
}
