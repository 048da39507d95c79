// Durations in the options of commands.

import { InvalidArgumentError } from 'commander';

const DAY = 86_400;

/** Parses an option in seconds, up to a day. */
export const seconds = secondsWithin(0, DAY);

/** Returns a parser of an option in seconds. */
export function secondsWithin(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() === '' || !(value >= least && value <= most))
      throw new InvalidArgumentError(`Use a number of seconds from ${least} to ${most}.`);
    return value;
  };
}
