// `cluster`: shows how the controllers of a network follow its changes, and lets one take the data of the database.

import { Command } from 'commander';
import { examples } from '#lib/commands/name.ts';
import { print } from '#lib/commands/print.ts';
import type { ControllerView } from '../lab/network-view.ts';
import { connected, withLab } from './lab.ts';
import type { Connection } from './lab-client.ts';

export function clusterCommand(): Command {
  return new Command('cluster')
    .description('show the controllers of a network, or let one rejoin it')
    .addCommand(listCommand())
    .addCommand(rejoinCommand())
    .addHelpText('after', examples('sim', 'cluster list --ready sim.json', 'cluster rejoin two --ready sim.json'));
}

function listCommand(): Command {
  const command = new Command('list')
    .description('list the controllers: the index of the last change that each has, and why one does not follow')
    .addHelpText('after', examples('sim', 'cluster list --ready sim.json'))
    .action((connection: Connection) =>
      withLab(connection, async (client) => {
        const { controllers } = (await client.ask('GET', '/lab/v1/network')) as {
          readonly controllers: readonly ControllerView[];
        };
        for (const controller of controllers) print(line(controller));
      }),
    );
  return connected(command);
}

function rejoinCommand(): Command {
  const command = new Command('rejoin')
    .description(
      'let a running controller replace its data by that of the database. Changes that only this controller has are lost',
    )
    .argument('<member>', 'id of the controller')
    .addHelpText('after', examples('sim', 'cluster rejoin two --ready sim.json'))
    .action((member: string, connection: Connection) =>
      withLab(connection, async (client) => {
        await client.ask('POST', `/lab/v1/cluster/members/${encodeURIComponent(member)}/rejoin`);
        print(`${member} has the data of the database`);
      }),
    );
  return connected(command);
}

/** For example `two connected, leader, change 15, 3 behind: the database has another history: …`. */
function line({ id, connected: isConnected, leader, index, behind, problem }: ControllerView): string {
  const facts = [
    isConnected ? 'connected' : 'not connected',
    ...(leader ? ['leader'] : []),
    `change ${index}`,
    ...(behind > 0 ? [`${behind} behind`] : []),
  ];
  return `${id} ${facts.join(', ')}${problem === undefined ? '' : `: ${problem}`}`;
}
