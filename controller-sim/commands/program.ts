// The command line of the simulator. Each file in this folder is one command.

import { Command } from 'commander';
import { completionCommand } from '#lib/commands/completion.ts';
import { commandName } from '#lib/commands/name.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { loadCommand } from '../../testbed/sim-load.ts';
import { networkCommand } from '../../testbed/sim-network.ts';
import { recordCommand, replayCommand } from '../../testbed/sim-record.ts';
import { clockCommand } from './clock.ts';
import { clusterCommand } from './cluster.ts';
import { faultCommand } from './faults.ts';
import { healthCommand } from './health.ts';
import { journalCommand, verifyCommand, waitCommand } from './journal.ts';
import { identityCommand, serviceCommand } from './network.ts';
import { operationsCommand } from './operations.ts';
import { proxyCommand } from './proxies.ts';
import { exportCommand, seedCommand, whatIfCommand } from './seed.ts';
import { resetCommand, restoreCommand, snapshotCommand } from './snapshots.ts';
import { startCommand } from './start.ts';
import { storeCommand } from './store.ts';
import { tokenCommand } from './token.ts';
import { whyCommand } from './why.ts';

export function simulatorProgram(): Command {
  const program = new Command(commandName('sim'))
    .description('controller simulator for OpenZiti overlay networks')
    .version(packageJson.version, '-V, --version', 'print the version')
    .showHelpAfterError();
  const commands = [
    startCommand(),
    networkCommand(),
    loadCommand(),
    recordCommand(),
    replayCommand(),
    healthCommand(),
    clockCommand(),
    snapshotCommand(),
    restoreCommand(),
    resetCommand(),
    seedCommand(),
    exportCommand(),
    whatIfCommand(),
    serviceCommand(),
    identityCommand(),
    tokenCommand(),
    whyCommand(),
    journalCommand(),
    verifyCommand(),
    waitCommand(),
    faultCommand(),
    proxyCommand(),
    clusterCommand(),
    storeCommand(),
    operationsCommand(),
    completionCommand(program, 'edgeweave-sim'),
  ];
  for (const command of commands) program.addCommand(command);
  return program;
}
