// `store copy`: copies a network between a data file and a PostgreSQL database.

import { Command } from 'commander';
import { examples } from '#lib/commands/name.ts';
import { print, printError } from '#lib/commands/print.ts';
import { describeError } from '#lib/errors.ts';
import { silentLog } from '#lib/log/log.ts';
import { SystemClock } from '#lib/time/clock.ts';

export function storeCommand(): Command {
  return new Command('store')
    .description('work with the data of a simulator that does not run')
    .addCommand(copyCommand())
    .addHelpText('after', examples('sim', 'store copy sim.db postgres://edgeweave@localhost/network'));
}

function copyCommand(): Command {
  return new Command('copy')
    .description(
      'copy a network from a data file (start --data) into an empty PostgreSQL database (start --store), or back into a new file',
    )
    .argument(
      '<from>',
      'data file, or URL of a database. Changes during the copy are not part of it: stop its simulators',
    )
    .argument('<to>', 'new data file, or URL of an empty database')
    .addHelpText('after', examples('sim', 'store copy postgres://edgeweave@localhost/network sim.db'))
    .action(async (from: string, to: string) => {
      const { copyStore } = await import('../state/store/copy-store.ts');
      try {
        const count = await copyStore(from, to, { clock: new SystemClock(), log: silentLog });
        print(`copied ${count} entities`);
      } catch (error) {
        printError(describeError(error));
        process.exitCode = 1;
      }
    });
}
