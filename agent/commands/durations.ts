// Durations in the options of commands.

import { InvalidArgumentError } from 'commander';

const MOST_SECONDS = 86_400;

/** Parses an option in seconds, up to a day. */
export function seconds(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !(value >= 0 && value <= MOST_SECONDS))
    throw new InvalidArgumentError(`Use a number of seconds from 0 to ${MOST_SECONDS}.`);
  return value;
}
