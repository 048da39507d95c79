// `profile FILE cpu|memory`: records a profile of one thread of a running router into a file for developer tools.

import { Argument, Command, InvalidArgumentError } from 'commander';
import { examples } from '#lib/commands/name.ts';
import { print, printError } from '#lib/commands/print.ts';
import { describeError } from '#lib/errors.ts';
import { writeFileAtomic } from '#lib/files/atomic-file.ts';
import { writeObstacle } from '#lib/files/writable.ts';
import { PROFILE_RANGE } from '../profile/profile-limits.ts';
import type { ProfileKind } from '../profile/runtime.ts';
import { ask } from './ask.ts';
import { secondsWithin } from './durations.ts';
import { Exit } from './exit.ts';

const SECONDS = 30;
const { min: MIN, max: MAX } = PROFILE_RANGE;
const KINDS: readonly ProfileKind[] = ['cpu', 'memory'];
const EXTENSION: Readonly<Record<ProfileKind, string>> = { cpu: 'cpuprofile', memory: 'heapprofile' };

export function profileCommand(): Command {
  return new Command('profile')
    .description('record a profile of a running router, for developer tools')
    .argument('<file>', 'its configuration file')
    .addArgument(new Argument('<kind>', 'CPU time, or allocations of memory').choices(KINDS))
    .option('--seconds <seconds>', `duration, up to ${MAX}`, secondsWithin(MIN, MAX), SECONDS)
    .option('--thread <number>', 'an I/O thread of `inspect FILE threads` (default: the main thread)', threadNumber)
    .option('--output <file>', 'file of the profile (default: router.cpuprofile or router.heapprofile)')
    .addHelpText(
      'after',
      `
Chrome's developer tools, Visual Studio Code and speedscope.app open the file. It contains names of functions and files.
A profile costs time: traffic is a few percent slower meanwhile.
${examples('router', 'profile router.yml cpu --seconds 10 --output /tmp/router.cpuprofile', 'profile router.yml cpu --thread 1')}`,
    )
    .action(async (file: string, kind: ProfileKind, options: { seconds: number; thread?: number; output?: string }) => {
      const output = options.output ?? `router.${EXTENSION[kind]}`;
      const obstacle = writeObstacle(output, { isReplaced: true });
      if (obstacle !== undefined) {
        printError(`the profile cannot be written: ${obstacle} (--output)`);
        process.exitCode = Exit.Failed;
        return;
      }
      const given = { kind, seconds: options.seconds, thread: options.thread };
      process.exitCode = await ask(file, 'profile', { arguments: given }, async (answer) => {
        try {
          await writeFileAtomic(output, (answer as { profile: string }).profile);
        } catch (error) {
          printError(`the profile ${describeError(error)}`);
          return Exit.Failed;
        }
        print(output);
        return Exit.Done;
      });
    });
}

function threadNumber(text: string): number {
  if (!/^[1-9]\d?$/.test(text)) throw new InvalidArgumentError('Use the number of a thread, from 1 on.');
  return Number(text);
}
