// The options of programs that stop with the one that has started them.

import { type Command, InvalidArgumentError, Option } from 'commander';
import { describeError } from '../errors.ts';
import type { Lifetime } from '../process/lifetime.ts';
import { parseDuration } from '../time/duration.ts';

/** Adds the options; their values are a Lifetime. */
export function withLifetime(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--exit-with-parent [pid]',
        'stop when the process that started it ends, or the one with this id: nothing is left behind if a test runner is killed',
      )
        .env('EDGEWEAVE_EXIT_WITH_PARENT')
        .argParser(processId),
    )
    .option('--exit-with-stdin', 'stop when standard input ends')
    .option('--ttl <duration>', 'stop after this time, for example 10m', timeToLive);
}

export function lifetimeOf({ exitWithParent, exitWithStdin, ttl }: Lifetime): Lifetime {
  return { exitWithParent, exitWithStdin, ttl };
}

/** An empty environment variable means that it is not set. */
function processId(text: string): number | undefined {
  if (text === '') return undefined;
  const pid = Number(text);
  if (Number.isInteger(pid) && pid > 0) return pid;
  throw new InvalidArgumentError('pass the id of a process.');
}

function timeToLive(text: string): number {
  try {
    const milliseconds = parseDuration(text);
    if (milliseconds > 0) return milliseconds;
  } catch (error) {
    throw new InvalidArgumentError(`${describeError(error)}.`);
  }
  throw new InvalidArgumentError('pass a duration above zero, such as 10m.');
}
