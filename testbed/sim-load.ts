// `load`: thousands of virtual routers and clients against a running simulator or another controller, with a report.

import { Command } from 'commander';
import { inColumns } from '#lib/commands/columns.ts';
import { examples } from '#lib/commands/name.ts';
import { print, printError } from '#lib/commands/print.ts';
import { describeError, ProjectError } from '#lib/errors.ts';
import { readProblem } from '#lib/files/read-problem.ts';
import { readTextFileSync } from '#lib/files/text-file.ts';
import { stopSignals } from '#lib/process/stop-signal.ts';
import { connected } from '../controller-sim/commands/lab.ts';
import { type Connection, controllerOf } from '../controller-sim/commands/lab-client.ts';
import type { LoadReport } from './load/interface.ts';

interface LoadCommandOptions extends Connection {
  readonly keep?: true;
  readonly json?: true;
}

export function loadCommand(): Command {
  const command = new Command('load')
    .description(
      'run virtual routers and clients against a simulator or another controller, and report the time of each step; exit code 1 if steps failed',
    )
    .argument('<scenario>', 'file with the groups and their steps (YAML or JSON)')
    .option('--keep', 'do not delete the routers, identities and services that it creates')
    .option('--json', 'print the report as JSON')
    .addHelpText(
      'after',
      examples(
        'sim',
        'load scenario.yml --ready sim.json',
        'load scenario.yml --url https://ctrl:1280 --ca ca.pem --json',
      ),
    )
    .action(async (file: string, { keep, json, ...connection }: LoadCommandOptions) => {
      try {
        const report = await run(file, connection, keep === true);
        print(json ? JSON.stringify(report) : show(report));
        process.exitCode = report.failed > 0 ? 1 : 0;
      } catch (error) {
        printError(describeError(error));
        process.exitCode = 1;
      }
    });
  return connected(command);
}

async function run(file: string, connection: Connection, keep: boolean): Promise<LoadReport> {
  const target = await controllerOf(connection);
  const { runLoad } = await import('./load/run.ts');
  const stop = new AbortController();
  void stopSignals().first.then(() => stop.abort());
  const onProgress = (text: string) => printError(`load: ${text}`);
  return runLoad(target, readText(file), { file, keep, signal: stop.signal, onProgress });
}

function readText(file: string): string {
  try {
    return readTextFileSync(file);
  } catch (error) {
    throw new ProjectError('SCENARIO', readProblem(file, error), { cause: error });
  }
}

function show({ seconds, stages, left }: LoadReport): string {
  const rows = [
    ['group', 'step', 'done', 'failed', 'per second', 'p50 ms', 'p99 ms', 'max ms'],
    ...stages.map(({ group, step, done, failed, perSecond, p50, p99, max }) => [
      group,
      step,
      ...[done, failed, perSecond, p50, p99, max].map(String),
    ]),
  ];
  const errors = stages.flatMap(({ group, step, errors: reasons }) =>
    reasons.map(({ reason, count }) => `${group} ${step}: ${count} × ${reason}`),
  );
  const rest = left > 0 ? [`${left} entities could not be deleted`] : [];
  return [...inColumns(rows), ...errors, ...rest, `${seconds.toFixed(1)} s`].join('\n');
}
