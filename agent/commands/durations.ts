// Durations in the options of commands.

import { InvalidArgumentError } from 'commander';

const DAY = 86_400;

/** Parses an option in seconds, up to a day. */
export const seconds = secondsWithin(0, DAY);

/** Returns a parser of an option in seconds. */
export function secondsWithin(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() === '' || !(value >= min && value <= max))
      throw new InvalidArgumentError(`Use a number of seconds from ${min} to ${max}.`);
    return value;
  };
}
