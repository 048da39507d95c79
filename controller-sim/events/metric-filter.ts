// The filter of a metric subscription: one regular expression for source routers, one for metric names with their
// figures, such as `link.latency.p50` (reference fact: the options of its command line).

import { BoundedPattern } from '#lib/text/bounded-pattern.ts';
import type { Event } from './events.ts';

export interface MetricFilterOptions {
  readonly sourceFilter?: unknown;
  readonly metricFilter?: unknown;
}

type Matches = (text: string) => boolean;

/** Whether the options contain an expression. */
export function isFiltered({ sourceFilter, metricFilter: nameFilter }: MetricFilterOptions): boolean {
  return [sourceFilter, nameFilter].some((each) => each !== undefined && each !== '');
}

/**
 * Returns the matching part of an event, or undefined if nothing matches. `onSlow` is called when an expression exceeds
 * its time limit, and it matches nothing from then on. Throws Error for an invalid expression.
 */
export function metricFilter(
  { sourceFilter, metricFilter: nameFilter }: MetricFilterOptions = {},
  onSlow: (option: string) => void = () => undefined,
): (event: Event) => Event | undefined {
  const isSource = matcher('sourceFilter', sourceFilter, onSlow);
  const isName = matcher('metricFilter', nameFilter, onSlow);
  return (event) => {
    if (!isSource(String(event.source_id))) return undefined;
    const figures = Object.entries(event.metrics as Readonly<Record<string, number>>).filter(([figure]) =>
      isName(figure === 'value' ? String(event.metric) : `${String(event.metric)}.${figure}`),
    );
    return figures.length === 0 ? undefined : { ...event, metrics: Object.fromEntries(figures) };
  };
}

function matcher(name: string, expression: unknown, onSlow: (option: string) => void): Matches {
  if (expression === undefined || expression === '') return () => true;
  if (typeof expression !== 'string') throw new Error(`invalid ${name}: a regular expression must be a string`);
  return new BoundedPattern(expression, () => onSlow(name)).matches;
}
