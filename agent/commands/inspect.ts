// `inspect FILE [NAME]`: the state of a running router on this machine; with a name, one of the network's inspections.

import { Command } from 'commander';
import { examples } from '#lib/commands/name.ts';
import { print } from '#lib/commands/print.ts';
import { ask } from './ask.ts';
import { Exit } from './exit.ts';

export function inspectCommand(): Command {
  return new Command('inspect')
    .description('print the state of a running router: controllers, links, circuits, terminators')
    .argument('<file>', 'its configuration file')
    .argument('[name]', 'a single inspection of `ziti fabric inspect`, for example links or circuit:ID')
    .option('--json', 'print JSON', false)
    .addHelpText('after', examples('router', 'inspect router.yml', 'inspect router.yml router-circuits --json'))
    .action(async (file: string, name: string | undefined, { json }: { json: boolean }) => {
      process.exitCode = await ask(file, 'inspect', { arguments: { name } }, async (answer) => {
        if (typeof answer === 'string') print(answer);
        else
          print(
            json ? JSON.stringify(answer, undefined, 2) : (await import('#lib/text/yaml-text.ts')).yamlText(answer),
          );
        return Exit.Done;
      });
    });
}
