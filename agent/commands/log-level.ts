// `log-level FILE [COMPONENT] [LEVEL]`: prints or changes the log levels of a running router, until it stops.

import { Command } from 'commander';
import { inColumns } from '#lib/commands/columns.ts';
import { examples } from '#lib/commands/name.ts';
import { print } from '#lib/commands/print.ts';
import { ask } from './ask.ts';
import { Exit } from './exit.ts';

interface Levels {
  readonly level: string;
  readonly components: Readonly<Record<string, string>>;
}

export function logLevelCommand(): Command {
  return new Command('log-level')
    .description('print or change the log levels of a running router')
    .argument('<file>', 'its configuration file')
    .argument('[component]', 'a component, for example link (default: all components without their own level)')
    .argument('[level]', 'trace, debug, info, warn or error; default removes the level of a component')
    .option('--json', 'print the levels as JSON', false)
    .addHelpText(
      'after',
      `\nWithout a level, the command prints the levels.\n${examples('router', 'log-level router.yml link debug', 'log-level router.yml warn')}`,
    )
    .action(
      async (file: string, first: string | undefined, second: string | undefined, { json }: { json: boolean }) => {
        const component = second === undefined ? undefined : first;
        const level = second ?? first;
        process.exitCode = await ask(file, 'log-level', { arguments: { component, level } }, (answer) => {
          print(json ? JSON.stringify(answer, undefined, 2) : table(answer as Levels));
          return Exit.Done;
        });
      },
    );
}

function table({ level, components }: Levels): string {
  return inColumns([['all', level], ...Object.entries(components)]).join('\n');
}
