// `decommission FILE`: deletes a running router at its controller; the router stops.

import { Command } from 'commander';
import { examples } from '#lib/commands/name.ts';
import { ask } from './ask.ts';
import { Exit, print, printError } from './exit.ts';

export function decommissionCommand(): Command {
  return new Command('decommission')
    .description('delete a running router at its controller, and stop it')
    .argument('<file>', 'its configuration file')
    .option('--yes', 'confirm: the router cannot be restored, only created and enrolled again', false)
    .addHelpText('after', examples('router', 'decommission router.yml --yes'))
    .action(async (file: string, { yes }: { yes: boolean }) => {
      if (!yes) {
        printError('this deletes the router at its controller, with its terminators; confirm with --yes');
        process.exitCode = Exit.WrongUse;
        return;
      }
      process.exitCode = await ask(file, 'decommission', {}, () => {
        print('the router is deleted at its controller, and stops');
        return Exit.Done;
      });
    });
}
