// The time limit of a wait, as callers give it.

import { describeError } from '#lib/errors.ts';
import { parseDuration } from '#lib/time/duration.ts';
import { InvalidError } from './lab-error.ts';

/** @returns milliseconds of a number or a duration such as `5s`. @throws InvalidError, also beyond `max` */
export function waitTime(field: string, given: number | string, max: number): number {
  let time = Number.NaN;
  try {
    time = typeof given === 'number' ? given : parseDuration(given);
  } catch (error) {
    throw new InvalidError(field, describeError(error), given);
  }
  if (time >= 0 && time <= max) return time;
  throw new InvalidError(field, `use a duration from 0 to ${max / 1_000}s`, given);
}
