// `clock`: shows or advances the time of a running simulator.

import { Command } from 'commander';
import { examples } from '#lib/commands/name.ts';
import { print } from '#lib/commands/print.ts';
import { connected, withLab } from './lab.ts';
import type { Connection } from './lab-client.ts';

interface ClockState {
  readonly now: string;
  readonly advanced: string;
}

export function clockCommand(): Command {
  const command = new Command('clock')
    .description('show the time of a running simulator, or advance it: sessions, tokens and locks expire at once')
    .option('--advance <duration>', 'add this duration, for example 31m')
    .addHelpText('after', examples('sim', 'clock --ready sim.json', 'clock --advance 31m --ready sim.json'))
    .action(({ advance, ...connection }: Connection & { advance?: string }) =>
      withLab(connection, async (client) => {
        const { now, advanced } = (await (advance === undefined
          ? client.ask('GET', '/lab/v1/clock')
          : client.ask('POST', '/lab/v1/clock/advance', { duration: advance }))) as ClockState;
        print(advanced === '0s' ? now : `${now} (advanced by ${advanced})`);
      }),
    );
  return connected(command);
}
