// `drain FILE`: a running router stops accepting circuits; the command waits until the open ones have ended. Exit code
// 1 on timeout. The router continues to drain after the command, until `--cancel`.

import { Command } from 'commander';
import { examples } from '#lib/commands/name.ts';
import { print, printError } from '#lib/commands/print.ts';
import { count } from '#lib/text/count.ts';
import type { DrainStatus } from '../interface/description.ts';
import { ask } from './ask.ts';
import { seconds } from './durations.ts';
import { Exit } from './exit.ts';

interface DrainOptions {
  seconds: number;
  cancel: boolean;
  json: boolean;
}

type Progress = DrainStatus & { readonly secondsLeft: number };

const SECONDS = 300;
/** Maximum seconds between two lines. */
const QUIET = 10;

export function drainCommand(): Command {
  return new Command('drain')
    .description('stop a running router from accepting circuits, and wait until the open ones have ended')
    .argument('<file>', 'its configuration file')
    .option('--seconds <seconds>', 'time to wait; 0 returns at once', seconds, SECONDS)
    .option('--cancel', 'accept circuits again', false)
    .option('--json', 'print the result as JSON', false)
    .addHelpText(
      'after',
      `
Open circuits continue, hosted services move to other routers, links stay. The router continues to drain after this
command, also after Ctrl-C, until --cancel or its next start.

Exit codes: 0 no circuit is left, 1 circuits are left after the timeout.
${examples('router', 'drain router.yml --seconds 600 && systemctl stop router')}`,
    )
    .action(async (file: string, options: DrainOptions) => {
      process.exitCode = await drain(file, options);
    });
}

function drain(file: string, options: DrainOptions): Promise<number> {
  const given = options.cancel ? { cancel: true } : { seconds: options.seconds };
  return ask(file, 'drain', { arguments: given, onProgress: progressLines() }, (result) => {
    const status = result as DrainStatus;
    if (options.json) print(JSON.stringify(status, undefined, 2));
    else print(summary(status, options));
    return options.cancel || status.circuits === 0 ? Exit.Done : Exit.Failed;
  });
}

/** Prints a line to stderr for every change, and one at intervals. */
function progressLines(): (progress: unknown) => void {
  let last = '';
  let printedAt = Number.POSITIVE_INFINITY;
  return (progress) => {
    const { circuits, passing, terminators, secondsLeft } = progress as Progress;
    if (circuits === 0) return;
    const text = `${count(circuits, 'circuit')} left, ${passing} passing through, ${count(terminators, 'terminator')} to remove`;
    if (text === last && printedAt - secondsLeft < QUIET) return;
    last = text;
    printedAt = secondsLeft;
    printError(`${text}, ${secondsLeft} s left`);
  };
}

function summary({ state, circuits }: DrainStatus, options: DrainOptions): string {
  if (state === 'serving') return 'the router accepts circuits';
  if (circuits === 0) return 'drained: no circuit is left, and the router accepts no new ones';
  const are = circuits === 1 ? 'is' : 'are';
  return `${count(circuits, 'circuit')} ${are} left after ${options.seconds} s; the router accepts no new ones until --cancel`;
}
