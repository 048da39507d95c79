// Durations in the notation of the network's programs: `1h2m3.5s`, `250ms`, `-1s`, `0`. Units ns, us, µs, ms, s, m, h;
// they may repeat and have any order (reference/router-config.md section 4). Values are milliseconds, with fractions.

import { ProjectError } from '../errors.ts';
import { ownValue } from '../json/own-value.ts';

/** Factor and divisor from each unit to milliseconds; two numbers keep exact values exact. */
const MILLISECONDS: Readonly<Record<string, readonly [number, number]>> = {
  ns: [1, 1e6],
  us: [1, 1e3],
  '\u00b5s': [1, 1e3],
  '\u03bcs': [1, 1e3],
  ms: [1, 1],
  s: [1_000, 1],
  m: [60_000, 1],
  h: [3_600_000, 1],
};
const GROUP = /(\d+\.?\d*|\.\d+)([^\d.]*)/y;
/** ±292 years: a signed 64-bit number of nanoseconds. */
const MAX_DURATION_MS = 2 ** 63 / 1e6;
/** Characters of a duration. Nobody writes longer ones, and messages repeat them. */
export const MAX_DURATION_LENGTH = 100;

export class DurationError extends ProjectError {
  /** The message without its remedy. */
  readonly mistake: string;

  constructor(mistake: string) {
    super('BAD_DURATION', `${mistake}; write for example 500ms, 90s or 1h30m`);
    this.mistake = mistake;
  }
}

/** Parses a duration to milliseconds. @throws DurationError that describes the problem */
export function parseDuration(text: string): number {
  if (text.length > MAX_DURATION_LENGTH)
    throw new DurationError(`a duration has at most ${MAX_DURATION_LENGTH} characters`);
  const quoted = JSON.stringify(text);
  const negative = text.startsWith('-');
  const unsigned = negative || text.startsWith('+') ? text.slice(1) : text;
  if (unsigned === '0') return 0;
  if (unsigned === '') throw new DurationError(`invalid duration ${quoted}`);
  let milliseconds = 0;
  GROUP.lastIndex = 0;
  while (GROUP.lastIndex < unsigned.length) {
    const match = GROUP.exec(unsigned);
    if (!match) throw new DurationError(`invalid duration ${quoted}`);
    const unit = match[2] ?? '';
    if (unit === '') throw new DurationError(`missing unit in duration ${quoted}`);
    const scale = ownValue(MILLISECONDS, unit);
    if (scale === undefined) throw new DurationError(`unknown unit ${JSON.stringify(unit)} in duration ${quoted}`);
    milliseconds += (Number(match[1]) * scale[0]) / scale[1];
  }
  if (milliseconds >= MAX_DURATION_MS) throw new DurationError(`invalid duration ${quoted}`);
  return negative ? -milliseconds : milliseconds;
}

/** The canonical text of a duration in milliseconds: `1m0s`, `24h0m0s`, `1.5s`, `250ms`, `24.937µs`, `0s`. */
export function formatDuration(milliseconds: number): string {
  const absolute = Math.abs(milliseconds);
  const nanoseconds = Math.round(absolute * 1e6);
  const sign = milliseconds < 0 && nanoseconds > 0 ? '-' : '';
  if (nanoseconds === 0) return '0s';
  if (nanoseconds < 1e3) return `${sign}${nanoseconds}ns`;
  if (nanoseconds < 1e6) return `${sign}${nanoseconds / 1e3}µs`;
  if (nanoseconds < 1e9) return `${sign}${nanoseconds / 1e6}ms`;
  const hours = Math.floor(absolute / 3_600_000);
  const minutes = Math.floor((absolute % 3_600_000) / 60_000);
  const seconds = Number(((absolute % 60_000) / 1_000).toFixed(9));
  if (hours > 0) return `${sign}${hours}h${minutes}m${seconds}s`;
  return minutes > 0 ? `${sign}${minutes}m${seconds}s` : `${sign}${seconds}s`;
}

/** The last time that RFC 3339 can express. */
export const LAST_MOMENT = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** Formats a time in milliseconds as RFC 3339, limited to the last expressible time. */
export function timeText(milliseconds: number): string {
  return new Date(Math.min(milliseconds, LAST_MOMENT)).toISOString();
}
