// Commands that control a running simulator share the options that lead to it.

import { type Command, Option } from 'commander';
import { commandName } from '#lib/commands/name.ts';
import { printError } from '#lib/commands/print.ts';
import { describeError } from '#lib/errors.ts';
import type { Connection, LabClient } from './lab-client.ts';

/** Adds the options of a connection. */
export function connected(command: Command): Command {
  return command
    .addOption(readyOption())
    .option('--url <url>', 'address of the simulator; default: that of the ready line')
    .option('--ca <file>', 'authorities of its certificate; default: those of the ready line')
    .option('--username <name>', 'name of the administrator; default: that of the ready line')
    .addOption(
      new Option('--password <password>', 'password of the administrator; default: that of the ready line').env(
        'EDGEWEAVE_SIM_PASSWORD',
      ),
    );
}

/** The file of a running simulator. */
export function readyOption(): Option {
  return new Option(
    '--ready <file>',
    `file with the ready line: the output of \`${commandName('sim')} start --json\`; default: that of the service on this machine`,
  ).env('EDGEWEAVE_SIM_READY');
}

/** Reports the error of `work` in one line, with exit code 1. */
export async function withErrors(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    printError(describeError(error));
    process.exitCode = 1;
  }
}

/** Runs `work` with a client, and reports its error in one line, with exit code 1. */
export async function withLab(connection: Connection, work: (client: LabClient) => Promise<void>): Promise<void> {
  const { LabClient } = await import('./lab-client.ts');
  let client: LabClient | undefined;
  try {
    client = await LabClient.open(connection);
    await work(client);
  } catch (error) {
    printError(describeError(error));
    process.exitCode = 1;
  } finally {
    await client?.close();
  }
}
