// `seed` and `export`: create a network in a running simulator from a file, and write the network to one.

import { writeFileSync } from 'node:fs';
import { Command, Option } from 'commander';
import { examples } from '#lib/commands/name.ts';
import { print } from '#lib/commands/print.ts';
import { describeError, ProjectError } from '#lib/errors.ts';
import { readProblem } from '#lib/read-problem.ts';
import { readTextFileSync } from '#lib/text-file.ts';
import type { SeedDocument } from '../lab/seed/export.ts';
import { SEED_FORMATS, type SeedFormat } from '../lab/seed/format-names.ts';
import type { SeedMistake } from '../lab/seed/mistake.ts';
import type { Seeded } from '../lab/seed/seeded.ts';
import { connected, withLab } from './lab.ts';
import type { Connection } from './lab-client.ts';
import { seededText } from './seeded-text.ts';

export function seedCommand(): Command {
  const command = new Command('seed')
    .description('create the entities of a file that a running simulator does not have; all of them or none')
    .argument('<file>', 'YAML or JSON, as `export` and `ziti ops export` write it')
    .addHelpText('after', examples('sim', 'seed network.yml --ready sim.json'))
    .action((file: string, connection: Connection) =>
      withLab(connection, async (client) => {
        const text = read(file);
        try {
          print(seededText((await client.ask('POST', '/lab/v1/seed', text)) as Seeded));
        } catch (error) {
          throw await named(error, file);
        }
      }),
    );
  return connected(command);
}

interface ExportOptions extends Connection {
  readonly format: SeedFormat;
  readonly output?: string;
}

export function exportCommand(): Command {
  const command = new Command('export')
    .description('write the network of a running simulator as a file for `seed`, without secrets')
    .addOption(new Option('--format <format>', 'yaml or json').choices(SEED_FORMATS).default('yaml'))
    .option('--output <file>', 'write to this file instead of standard output')
    .addHelpText('after', examples('sim', 'export --ready sim.json', 'export --output network.yml --ready sim.json'))
    .action(({ format, output, ...connection }: ExportOptions) =>
      withLab(connection, async (client) => {
        const { seedText } = await import('../lab/seed/format.ts');
        const text = seedText((await client.ask('GET', '/lab/v1/export')) as SeedDocument, format);
        if (output === undefined) print(text);
        else write(output, text);
      }),
    );
  return connected(command);
}

/** Mistakes with the name of the file. */
async function named(error: unknown, file: string): Promise<unknown> {
  const { LabClientError } = await import('./lab-client.ts');
  if (!(error instanceof LabClientError) || !Array.isArray(error.data)) return error;
  const { describeMistakes } = await import('../lab/seed/mistake.ts');
  return new LabClientError(describeMistakes(error.data as SeedMistake[], file));
}

function read(file: string): string {
  try {
    return readTextFileSync(file);
  } catch (error) {
    throw new ProjectError('INPUT', readProblem(file, error));
  }
}

function write(file: string, text: string): void {
  try {
    writeFileSync(file, text);
  } catch (error) {
    throw new ProjectError('OUTPUT', `${file} cannot be written: ${describeError(error)}`, { cause: error });
  }
}
