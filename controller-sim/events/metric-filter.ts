// What a subscription wants of metrics: a regular expression for the routers that measured them, and one for names of metrics with their
// figures, such as `link.latency.p50` (reference fact: as its command line asks for them).

import { within } from '#lib/bounded.ts';
import type { Event } from './events.ts';

export interface MetricFilterOptions {
  readonly sourceFilter?: unknown;
  readonly metricFilter?: unknown;
}

type Matches = (text: string) => boolean;

/** Milliseconds to look at one name. A good expression needs microseconds, but a busy machine may stop the process for a while. */
const LONGEST_LOOK = 500;
const MOST_KNOWN = 10_000;

/** Answers what is left of an event, or undefined when that is nothing. Throws Error for an expression that is none. */
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
 * Names repeat, so each is looked at once. An expression that once takes too long matches nothing from then on: a caller that sends such
 * expressions holds the simulator up once for each.
 */
function matcher(name: string, expression: unknown): Matches {
  if (expression === undefined || expression === '') return () => true;
  if (typeof expression !== 'string') throw new Error(`invalid ${name}: a regular expression must be a text`);
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
    if (known.size < MOST_KNOWN) known.set(text, found);
    return found;
  };
}
