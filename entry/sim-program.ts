// The command line of the simulator. The commands that need routers or clients of their own are in the test bed.

import { Command } from 'commander';
import { completionCommand } from '#lib/commands/completion.ts';
import { addGroups } from '#lib/commands/help.ts';
import { commandName } from '#lib/commands/name.ts';
import { CONNECTIONS } from '#schemas/lab/connections.ts';
import { CONTROLLERS } from '#schemas/lab/controllers.ts';
import { EXPLANATIONS } from '#schemas/lab/explanations.ts';
import { FAULTS } from '#schemas/lab/faults.ts';
import { JOURNAL } from '#schemas/lab/journal.ts';
import { NETWORKS } from '#schemas/lab/networks.ts';
import { SEEDS } from '#schemas/lab/seeds.ts';
import { STATE } from '#schemas/lab/state.ts';
import { TIME } from '#schemas/lab/time.ts';
import { clockCommand } from '../controller-sim/commands/clock.ts';
import { healthCommand } from '../controller-sim/commands/health.ts';
import { journalCommand } from '../controller-sim/commands/journal.ts';
import { commandsOf } from '../controller-sim/commands/lab-commands.ts';
import { identityCommand, serviceCommand } from '../controller-sim/commands/network.ts';
import { operationsCommand } from '../controller-sim/commands/operations.ts';
import { exportCommand, seedCommand, whatIfCommand } from '../controller-sim/commands/seed.ts';
import { snapshotCommand } from '../controller-sim/commands/snapshots.ts';
import { startCommand } from '../controller-sim/commands/start.ts';
import { storeCommand } from '../controller-sim/commands/store.ts';
import packageJson from '../package.json' with { type: 'json' };
import { loadCommand } from '../testbed/sim-load.ts';
import { networkCommand } from '../testbed/sim-network.ts';
import { recordCommand, replayCommand } from '../testbed/sim-record.ts';

export function simulatorProgram(): Command {
  const program = new Command(commandName('sim'))
    .description('controller simulator for OpenZiti overlay networks')
    .version(packageJson.version, '-V, --version', 'print the version');
  const groups: Readonly<Record<string, readonly Command[]>> = {
    'Start:': [startCommand(), networkCommand(), loadCommand(), recordCommand(), replayCommand()],
    'The network of a running simulator:': [
      seedCommand(),
      exportCommand(),
      serviceCommand(),
      identityCommand(),
      ...commandsOf(NETWORKS),
      ...commandsOf(SEEDS),
    ],
    'Its time and state:': [clockCommand(), ...commandsOf(TIME), snapshotCommand(), ...commandsOf(STATE)],
    'Its faults:': [...commandsOf(FAULTS), ...commandsOf(CONNECTIONS)],
    'What happened, and why:': [
      journalCommand(),
      ...commandsOf(JOURNAL),
      ...commandsOf(EXPLANATIONS),
      whatIfCommand(),
      healthCommand(),
    ],
    'Further commands:': [
      ...commandsOf(CONTROLLERS),
      storeCommand(),
      operationsCommand(),
      completionCommand(program, 'edgeweave-sim'),
    ],
  };
  addGroups(program, groups);
  return program;
}
