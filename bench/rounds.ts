// Converts measurements to rows: the median of the rounds with its spread, and the ratio to the yardstick. The subjects
// take turns within a round, so the ratio of one round compares measurements under the same load of the machine.

import type { Point, Row, Spread, Value, Work } from './report.ts';

/** The measurements of one subject in one round, by column. */
export type Values = Readonly<Record<string, number>>;

/** `measured` has the rounds of each subject, in order. A work without sizes may be given by its name. */
export function toRows(
  work: string | Work,
  measured: ReadonlyMap<string, readonly Values[]>,
  yardstick: string,
  point?: Point,
): Row[] {
  const yardstickRounds = measured.get(yardstick) ?? [];
  const named = typeof work === 'string' ? { group: work } : work;
  return Array.from(measured, ([subject, rounds]) => ({
    ...named,
    subject,
    values: Object.fromEntries(
      Object.keys(rounds[0] ?? {}).map((column) => [column, toValue(column, rounds, yardstickRounds)]),
    ),
    ...(point && { point }),
  }));
}

export function spreadOf(list: readonly number[]): Spread {
  const sorted = list.toSorted((a, b) => a - b);
  return { median: medianOf(sorted), min: sorted[0] ?? 0, max: sorted.at(-1) ?? 0 };
}

/** Between the two in the middle of an even number. */
function medianOf(sorted: readonly number[]): number {
  const [low = 0, high = low] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  return (low + high) / 2;
}

function toValue(column: string, rounds: readonly Values[], yardstickRounds: readonly Values[]): Value {
  const own = rounds.map((values) => values[column] ?? 0);
  const value = { ...spreadOf(own), rounds: own.length };
  const others = yardstickRounds.map((values) => values[column] ?? 0);
  const { median } = spreadOf(others);
  if (median === 0) return value;
  const ratios = own.flatMap((each, round) => (others[round] ? each / others[round] : []));
  if (ratios.length === 0) return value;
  const { min, max } = spreadOf(ratios);
  return { ...value, ratio: { median: value.median / median, min, max } };
}
