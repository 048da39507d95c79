// `snapshot`, `restore`, `reset`: named states of a running simulator, in its memory.

import { Command, Option } from 'commander';
import { examples } from '#lib/commands/name.ts';
import { print } from '#lib/commands/print.ts';
import { ProjectError } from '#lib/errors.ts';
import { writeFileAtomic } from '#lib/files/atomic-file.ts';
import { readProblem } from '#lib/files/read-problem.ts';
import { readTextFileSync } from '#lib/files/text-file.ts';
import { KEPT } from '../lab/kept.ts';
import { connected, withLab } from './lab.ts';
import type { Connection } from './lab-client.ts';

const SNAPSHOTS = '/lab/v1/snapshots';

interface Snapshot {
  readonly name: string;
  readonly takenAt: string;
  readonly entities: number;
  readonly controllerId: string;
}

interface SnapshotOptions {
  readonly delete?: true;
  readonly save?: string;
  readonly credentials?: true;
  readonly load?: string;
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
    .option('--save <file>', 'write it to this file; the present state if no snapshot has the name')
    .option(
      '--credentials',
      'with --save and --load: include passwords, certificates, second factors and one-time tokens',
    )
    .addOption(new Option('--load <file>', 'take it from this file, for `restore`').conflicts(['save', 'delete']))
    .addHelpText(
      'after',
      examples(
        'sim',
        'snapshot base --ready sim.json',
        'snapshot base --save report.json --ready sim.json',
        'snapshot theirs --load report.json --ready sim.json',
      ),
    )
    .action((name: string | undefined, options: Connection & SnapshotOptions) => {
      const { delete: deletes, save, credentials, load, ...connection } = options;
      if ((deletes ?? save ?? load) !== undefined && name === undefined) command.error('error: name the snapshot');
      return withLab(connection, async (client) => {
        if (name === undefined) {
          const all = (await client.ask('GET', SNAPSHOTS)) as Snapshot[];
          for (const each of all) print(shownAmong(all, each));
        } else if (deletes) {
          await client.ask('DELETE', `${SNAPSHOTS}/${encodeURIComponent(name)}`);
          print(`deleted ${name}`);
        } else if (load !== undefined) {
          const file = contentOf(load);
          print(
            show(
              (await client.ask('POST', `${SNAPSHOTS}/load`, {
                name,
                file,
                credentials: credentials === true,
              })) as Snapshot,
            ),
          );
        } else if (save !== undefined) {
          const known = (await client.ask('GET', SNAPSHOTS)) as Snapshot[];
          if (!known.some((each) => each.name === name)) await client.ask('POST', SNAPSHOTS, { name });
          const path = `${SNAPSHOTS}/${encodeURIComponent(name)}/file?credentials=${credentials === true}`;
          await writeFileAtomic(save, JSON.stringify(await client.ask('GET', path)));
          print(`saved ${name} in ${save}`);
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

function contentOf(file: string): unknown {
  let text: string;
  try {
    text = readTextFileSync(file);
  } catch (error) {
    throw new ProjectError('INPUT', readProblem(file, error));
  }
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new ProjectError('INPUT', `${file} is not JSON; use a file that the option --save wrote`);
  }
}

function keeping(command: Command): Command {
  const option = new Option('--keep <part...>', 'parts that stay as they are').choices(KEPT).default([]);
  return command.addOption(option);
}

function show({ name, takenAt, entities }: Snapshot): string {
  return `${name}  ${takenAt}  ${entities} entities`;
}

/** Where it is, if not all are at one controller. */
function shownAmong(all: readonly Snapshot[], each: Snapshot): string {
  const isOne = all.every(({ controllerId }) => controllerId === each.controllerId);
  return isOne ? show(each) : `${show(each)}, at ${each.controllerId}`;
}

function countsOf({ created, changed, deleted }: Restored): string {
  return `${created} created, ${changed} changed, ${deleted} deleted`;
}
