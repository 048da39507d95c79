// `decommission FILE`: lets the controller delete a running router, which then stops.

import { Command } from 'commander';
import { examples } from '#lib/commands/name.ts';
import { print, printError } from '#lib/commands/print.ts';
import { holdStopSignals } from '#lib/process/stop-signal.ts';
import { ask } from './ask.ts';
import { Exit } from './exit.ts';

export function decommissionCommand(): Command {
  return new Command('decommission')
    .description('delete a running router at its controller, and stop it')
    .argument('<file>', 'its configuration file')
    .option('--yes', 'confirm: the router cannot be restored, only created and enrolled again', false)
    .addHelpText('after', examples('router', 'decommission router.yml --yes'))
    .action(async (file: string, { yes }: { yes: boolean }) => {
      if (!yes) {
        printError('the controller will delete the router and its terminators; confirm with --yes');
        process.exitCode = Exit.WrongUse;
        return;
      }
      await using _ = holdStopSignals((signal) => printError(`${signal}: the controller is deleting the router`));
      process.exitCode = await ask(file, 'decommission', {}, () => {
        print('the controller deleted the router, which stops');
        return Exit.Done;
      });
    });
}
