// A logarithmic axis: its range, the position of values, and its ticks. Labels that would touch are omitted.

export interface Tick {
  readonly value: number;
  readonly label: string;
}

export interface Axis {
  readonly low: number;
  readonly high: number;
  /** From 0 at `low` to 1 at `high`. */
  at(value: number): number;
}

const STEPS = [1, 2, 5];

/** Covers all positive values, from one round number (1, 2 or 5 times a power of ten) to another. */
export function logAxis(values: readonly number[]): Axis {
  const positive = values.filter((value) => value > 0);
  const low = positive.length === 0 ? 1 : roundDown(Math.min(...positive));
  const above = positive.length === 0 ? 10 : roundUp(Math.max(...positive));
  const high = above > low ? above : low * 10;
  const span = Math.log10(high) - Math.log10(low);
  return {
    low,
    high,
    at: (value) => Math.min(1, Math.max(0, (Math.log10(Math.max(value, low)) - Math.log10(low)) / span)),
  };
}

/**
 * Round numbers on the axis, as many as fit: `length` is the length of the axis, `room` the space for a label, in the
 * same unit. Few decades get 1, 2 and 5; many only some powers of ten.
 */
export function ticksOf(axis: Axis, length: number, room: (label: string) => number): Tick[] {
  const decades = range(Math.floor(Math.log10(axis.low)), Math.ceil(Math.log10(axis.high)));
  const candidates = [
    decades.flatMap((power) => STEPS.map((step) => step * 10 ** power)),
    ...[1, 2, 3, 4].map((every) => decades.filter((power) => power % every === 0).map((power) => 10 ** power)),
  ];
  const fitting = candidates
    .map((values) => values.filter((value) => value >= axis.low * 0.999 && value <= axis.high * 1.001))
    .map((values) => values.map((value) => ({ value, label: tickLabel(value) })))
    .find((ticks) => ticks.length > 0 && ticks.every((tick, index) => hasRoom(tick, ticks[index + 1])));
  return fitting ?? [{ value: axis.low, label: tickLabel(axis.low) }];

  function hasRoom(tick: Tick, next: Tick | undefined): boolean {
    if (!next) return true;
    return (axis.at(next.value) - axis.at(tick.value)) * length >= (room(tick.label) + room(next.label)) / 2;
  }
}

/** `0.01`, `5`, `200`, `1.5 k`, `2 M`. */
export function tickLabel(value: number): string {
  const [number, unit] = value >= 1e6 ? [value / 1e6, ' M'] : value >= 1e3 ? [value / 1e3, ' k'] : [value, ''];
  return `${Number(number.toPrecision(3))}${unit}`;
}

function roundDown(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return power * (STEPS.findLast((step) => step * power <= value * 1.0001) ?? 1);
}

function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return power * (STEPS.find((step) => step * power >= value * 0.9999) ?? 10);
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}
