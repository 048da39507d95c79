// `snapshot`: named states of a running simulator, in its memory.

import { Command, Option } from 'commander';
import { examples } from '#lib/commands/name.ts';
import { print } from '#lib/commands/print.ts';
import { ProjectError } from '#lib/errors.ts';
import { writeFileAtomic } from '#lib/files/atomic-file.ts';
import { readProblem } from '#lib/files/read-problem.ts';
import { readTextFileSync } from '#lib/files/text-file.ts';
import type { LabSnapshot } from '#schemas/api/gen/answers.ts';
import { connected, withLab } from './lab.ts';
import type { Connection } from './lab-client.ts';

interface SnapshotOptions {
  readonly delete?: true;
  readonly save?: string;
  readonly credentials?: true;
  readonly load?: string;
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
          const all = await client.call('listSnapshots', {});
          for (const each of all) print(shownAmong(all, each));
        } else if (deletes) {
          await client.call('deleteSnapshot', { name });
          print(`deleted ${name}`);
        } else if (load !== undefined) {
          const file = contentOf(load) as Readonly<Record<string, unknown>>;
          print(show(await client.call('loadSnapshot', { name, file, credentials: credentials === true })));
        } else if (save !== undefined) {
          const known = await client.call('listSnapshots', {});
          if (!known.some((each) => each.name === name)) await client.call('createSnapshot', { name });
          const saved = await client.call('saveSnapshot', { name, credentials: credentials === true });
          await writeFileAtomic(save, JSON.stringify(saved));
          print(`saved ${name} in ${save}`);
        } else print(show(await client.call('createSnapshot', { name })));
      });
    });
  return connected(command);
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

function show({ name, takenAt, entities }: LabSnapshot): string {
  return `${name}  ${takenAt}  ${entities} entities`;
}

/** Where it is, if not all are at one controller. */
function shownAmong(all: readonly LabSnapshot[], each: LabSnapshot): string {
  const isOne = all.every(({ controllerId }) => controllerId === each.controllerId);
  return isOne ? show(each) : `${show(each)}, at ${each.controllerId}`;
}
