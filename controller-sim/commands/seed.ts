// `seed` and `export`: create a network in a running simulator from a file, and write the network to one.

import { Command, Option } from 'commander';
import { examples } from '#lib/commands/name.ts';
import { print } from '#lib/commands/print.ts';
import { ProjectError } from '#lib/errors.ts';
import { writeFileAtomic } from '#lib/files/atomic-file.ts';
import { readProblem } from '#lib/files/read-problem.ts';
import { readTextFileSync } from '#lib/files/text-file.ts';
import { inOneLine } from '#lib/text/shown-text.ts';
import type { LabSeeded } from '#schemas/api/gen/answers.ts';
import type { SeedDocument } from '../lab/seed/export.ts';
import { SEED_FORMATS, type SeedFormat } from '../lab/seed/format-names.ts';
import { MAX_JSON_BYTES } from '../lab/seed/max-size.ts';
import type { SeedMistake } from '../lab/seed/mistake.ts';
import type { Seeded, SeedOptions } from '../lab/seed/seeded.ts';
import type { Right, WhatIf } from '../lab/what-if.ts';
import { connected, withErrors, withLab } from './lab.ts';
import { type Connection, controllerOf, type LabClient } from './lab-client.ts';
import { seededText, stepText } from './seeded-text.ts';

/** Characters of one request: bodies have at most 1 MiB, and a character has up to three bytes. */
const MAX_PART_BYTES = 340_000;

export function seedCommand(): Command {
  const command = new Command('seed')
    .description('create the entities of a file that a running simulator does not have; all of them or none')
    .argument('<file>', 'YAML or JSON, as `export` and `ziti ops export` write it')
    .option('--apply', 'also change the entities that exist to what the file says; fields that it leaves out stay')
    .option('--prune', 'also delete what the sections of the file do not have')
    .option('--plan', 'change nothing, and print the steps')
    .option('--management', 'use the management API, which every controller has: each change is then a request')
    .addHelpText(
      'after',
      examples(
        'sim',
        'seed network.yml --ready sim.json',
        'seed network.yml --apply --prune --plan --ready sim.json',
        'seed network.yml --apply --management --url https://ctrl:1280 --ca ca.pem --username admin',
      ),
    )
    .action((file: string, { apply, prune, plan, management, ...connection }: SeedCommandOptions) => {
      const show = (seeded: Seeded) => {
        for (const step of seeded.steps ?? []) print(stepText(step));
        print(plan ? `plan: ${seededText(seeded)}` : seededText(seeded));
      };
      const options = { apply: apply === true, prune: prune === true, plan: plan === true };
      if (management)
        return withErrors(async () => {
          const controller = await controllerOf(connection);
          const text = read(file);
          const { seedController } = await import('../assembly/seed-controller.ts');
          show(await seedController(controller, text, { ...options, file }));
        });
      return withLab(connection, async (client) => {
        const text = read(file);
        try {
          const isWhole = prune === true || plan === true;
          show(await seedIn(client, text, isWhole, options));
        } catch (error) {
          throw await named(error, file);
        }
      });
    });
  return connected(command);
}

interface SeedCommandOptions extends Connection, SeedOptions {
  readonly management?: true;
}

/** A text beyond the limit on bodies is sent in parts. */
async function seedIn(client: LabClient, text: string, isWhole: boolean, options: SeedOptions): Promise<LabSeeded> {
  if (text.length <= MAX_PART_BYTES) return client.call('seed', { document: text, ...options });
  if (isWhole)
    throw new ProjectError('INPUT', `--prune and --plan need a file of at most ${MAX_PART_BYTES} characters`);
  const { seedInParts } = await import('./seed-parts.ts');
  return seedInParts(client, text, { apply: options.apply === true, size: MAX_PART_BYTES });
}

interface WhatIfCommandOptions extends Connection {
  readonly prune?: true;
  readonly network?: string;
  readonly failOn: 'any' | 'gained' | 'lost' | 'none';
  readonly json?: true;
}

export function whatIfCommand(): Command {
  const command = new Command('what-if')
    .description('apply a file to a copy of the network, and list who gains and who loses access to which service')
    .argument('<file>', 'YAML or JSON, as `seed --apply` reads it')
    .option('--prune', 'without what the sections of the file do not have')
    .option('--network <file>', 'compare with this export, also of a real network, instead of a running simulator')
    .addOption(
      new Option('--fail-on <change>', 'the change for which the exit code is 1')
        .choices(['any', 'gained', 'lost', 'none'])
        .default('any'),
    )
    .option('--json', 'print the answer as JSON')
    .addHelpText(
      'after',
      examples('sim', 'what-if change.yml --ready sim.json', 'what-if change.yml --network export.yml --fail-on lost'),
    )
    .action((file: string, { prune, network, failOn, json, ...connection }: WhatIfCommandOptions) => {
      const show = ({ gained, lost, totals, ...others }: WhatIf) => {
        if (json) print(JSON.stringify({ gained, lost, totals, ...others }));
        else {
          for (const right of gained) print(`+ ${rightText(right)}`);
          for (const right of lost) print(`- ${rightText(right)}`);
          print(`gained ${totals.gained}, lost ${totals.lost}`);
        }
        const counted = { any: totals.gained + totals.lost, ...totals, none: 0 }[failOn];
        if (counted > 0) process.exitCode = 1;
      };
      if (network !== undefined)
        return withErrors(async () => show(await compareExport(network, file, prune === true)));
      return withLab(connection, async (client) => {
        try {
          show(await client.call('whatIf', { document: read(file), prune }));
        } catch (error) {
          throw await named(error, file);
        }
      });
    });
  return connected(command);
}

function rightText({ identity, type, service }: Right): string {
  return `${identity} ${type.toLowerCase()} ${service}`;
}

/** In a simulator of its own, which has the network of the export. */
async function compareExport(network: string, file: string, prune: boolean): Promise<WhatIf> {
  const { startSimulator } = await import('../assembly/simulator.ts');
  await using simulator = await startSimulator({ seed: network, passwordCost: { memory: 64, passes: 1 } });
  return await simulator.lab.whatIf(read(file), { prune });
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
        const text = seedText((await client.call('exportNetwork', {})) as SeedDocument, format);
        if (output === undefined) print(text);
        else await writeFileAtomic(output, text); // only its owner can read it
      }),
    );
  return connected(command);
}

/** Mistakes with the name of the file. */
async function named(error: unknown, file: string): Promise<unknown> {
  const { LabClientError } = await import('./lab-client.ts');
  if (!(error instanceof LabClientError) || !Array.isArray(error.data)) return error;
  const { describeMistakes } = await import('../lab/seed/mistake.ts');
  const mistakes = error.data.map((each) => inLine(each as SeedMistake));
  return new LabClientError(describeMistakes(mistakes, file));
}

/** A simulator that is not one cannot add lines to the message. */
function inLine({ path, message, ...place }: SeedMistake): SeedMistake {
  return { ...place, path: inOneLine(String(path)), message: inOneLine(String(message)) };
}

function read(file: string): string {
  try {
    return readTextFileSync(file, MAX_JSON_BYTES);
  } catch (error) {
    throw new ProjectError('INPUT', readProblem(file, error));
  }
}
