// `cluster`: shows how the controllers of a network follow its changes, lets one take the data of the database, and
// causes faults of one.

import { Command } from 'commander';
import { examples } from '#lib/commands/name.ts';
import { print } from '#lib/commands/print.ts';
import type { LabController } from '#schemas/api/gen/answers.ts';
import { connected, withLab } from './lab.ts';
import type { Connection } from './lab-client.ts';

export function clusterCommand(): Command {
  return new Command('cluster')
    .description('show the controllers of a network, let one rejoin it, or cause faults of one')
    .addCommand(listCommand())
    .addCommand(rejoinCommand())
    .addCommand(
      faultCommand('partition', 'cut a controller off the database; routers and clients still reach it', 'is cut off'),
    )
    .addCommand(faultCommand('heal', 'end a partition', 'reaches the database'))
    .addCommand(pauseCommand())
    .addCommand(faultCommand('kill', 'end a controller as if it was killed', 'ends'))
    .addHelpText(
      'after',
      examples(
        'sim',
        'cluster list --ready sim.json',
        'cluster rejoin two --ready sim.json',
        'cluster partition two --ready sim.json',
      ),
    );
}

function faultCommand(fault: 'partition' | 'heal' | 'kill', what: string, outcome: string): Command {
  const command = new Command(fault)
    .description(what)
    .argument('<member>', 'id of the controller')
    .addHelpText('after', examples('sim', `cluster ${fault} two --ready sim.json`))
    .action((member: string, connection: Connection) => cause(fault, member, { connection, outcome }));
  return connected(command);
}

function pauseCommand(): Command {
  const command = new Command('pause')
    .description('let the process of a controller hang for a time')
    .argument('<member>', 'id of the controller')
    .option('--for <duration>', 'for this long, at most 5m', '15s')
    .addHelpText('after', examples('sim', 'cluster pause two --for 30s --ready sim.json'))
    .action((member: string, { for: duration, ...connection }: Connection & { readonly for: string }) =>
      cause('pause', member, { connection, outcome: `hangs for ${duration}`, body: { duration } }),
    );
  return connected(command);
}

function cause(
  fault: string,
  member: string,
  { connection, outcome, body }: { connection: Connection; outcome: string; body?: object },
): Promise<void> {
  return withLab(connection, async (client) => {
    await client.ask('POST', `/lab/v1/cluster/members/${encodeURIComponent(member)}/${fault}`, body);
    print(`${member} ${outcome}`);
  });
}

function listCommand(): Command {
  const command = new Command('list')
    .description('list the controllers: the index of the last change that each has, and why one does not follow')
    .option('--json', 'print them as JSON', false)
    .addHelpText('after', examples('sim', 'cluster list --ready sim.json'))
    .action(({ json, ...connection }: Connection & { readonly json: boolean }) =>
      withLab(connection, async (client) => {
        const { controllers } = (await client.ask('GET', '/lab/v1/network')) as {
          readonly controllers: readonly LabController[];
        };
        if (json) print(JSON.stringify(controllers, undefined, 2));
        else for (const controller of controllers) print(line(controller));
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
function line({ id, connected: isConnected, leader, index, behind, problem }: LabController): string {
  const facts = [
    isConnected ? 'connected' : 'not connected',
    ...(leader ? ['leader'] : []),
    `change ${index}`,
    ...(behind > 0 ? [`${behind} behind`] : []),
  ];
  return `${id} ${facts.join(', ')}${problem === undefined ? '' : `: ${problem}`}`;
}
