// `snapshot`, `restore`, `reset`: named states of a running simulator, in its memory.

import { Command, Option } from 'commander';
import { examples } from '#lib/commands/name.ts';
import { print } from '#lib/commands/print.ts';
import { KEPT } from '../lab/kept.ts';
import { connected, withLab } from './lab.ts';
import type { Connection } from './lab-client.ts';

const SNAPSHOTS = '/lab/v1/snapshots';

interface Snapshot {
  readonly name: string;
  readonly takenAt: string;
  readonly entities: number;
}

interface Keeping {
  readonly keep: readonly string[];
}

interface Restored {
  readonly created: number;
  readonly changed: number;
  readonly deleted: number;
}

export function snapshotCommand(): Command {
  const command = new Command('snapshot')
    .description('keep the state of a running simulator under a name; without a name list the kept states')
    .argument('[name]', 'an earlier one with this name is replaced')
    .option('--delete', 'delete it instead')
    .addHelpText('after', examples('sim', 'snapshot base --ready sim.json', 'snapshot --ready sim.json'))
    .action((name: string | undefined, { delete: deletes, ...connection }: Connection & { delete?: true }) => {
      if (deletes && name === undefined) command.error('error: name the snapshot to delete');
      return withLab(connection, async (client) => {
        if (name === undefined) {
          for (const each of (await client.ask('GET', SNAPSHOTS)) as Snapshot[]) print(show(each));
        } else if (deletes) {
          await client.ask('DELETE', `${SNAPSHOTS}/${encodeURIComponent(name)}`);
          print(`deleted ${name}`);
        } else print(show((await client.ask('POST', SNAPSHOTS, { name })) as Snapshot));
      });
    });
  return connected(command);
}

export function restoreCommand(): Command {
  const command = new Command('restore')
    .description(
      'return a running simulator to a kept state: its entities, clock and faults; the journal is empty then',
    )
    .argument('<name>', 'the name of the snapshot')
    .addHelpText('after', examples('sim', 'restore base --ready sim.json', 'restore base --keep clock journal'))
    .action((name: string, { keep, ...connection }: Connection & Keeping) =>
      withLab(connection, async (client) => {
        const path = `${SNAPSHOTS}/${encodeURIComponent(name)}/restore`;
        print(`restored ${name}: ${countsOf((await client.ask('POST', path, { keep })) as Restored)}`);
      }),
    );
  return connected(keeping(command));
}

export function resetCommand(): Command {
  const command = new Command('reset')
    .description('return a running simulator to its state, clock and faults after its start; the journal is empty then')
    .addHelpText('after', examples('sim', 'reset --ready sim.json'))
    .action(({ keep, ...connection }: Connection & Keeping) =>
      withLab(connection, async (client) =>
        print(`reset: ${countsOf((await client.ask('POST', '/lab/v1/reset', { keep })) as Restored)}`),
      ),
    );
  return connected(keeping(command));
}

function keeping(command: Command): Command {
  const option = new Option('--keep <part...>', 'parts that stay as they are').choices(KEPT).default([]);
  return command.addOption(option);
}

function show({ name, takenAt, entities }: Snapshot): string {
  return `${name}  ${takenAt}  ${entities} entities`;
}

function countsOf({ created, changed, deleted }: Restored): string {
  return `${created} created, ${changed} changed, ${deleted} deleted`;
}
