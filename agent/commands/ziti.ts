// The command `ziti` in the container image: scripts, probes and health checks that call the reference's command line
// beside a router find the same commands for this router.

import { Command } from 'commander';
import { print } from '#lib/commands/print.ts';
import { runProgram } from '#lib/commands/run-program.ts';
import { ownArguments } from '../bootstrap/run-arguments.ts';
import { PROGRAM_VERSION } from '../version.ts';
import { agentCommand } from './agent.ts';
import { routerProgram } from './program.ts';

/** The name that the help of `ziti router …` shows: its options are those of this program. */
const PROGRAM = 'edgeweave-router';

/** @param given Arguments of `ziti`. Resolves when the command has ended. */
export async function runZiti(given: readonly string[]): Promise<void> {
  const [command, ...rest] = given;
  if (command === 'router') return runRouter(rest);
  process.argv = [process.execPath, 'ziti', ...given];
  await runProgram(zitiProgram(process.env.ZITI_HOME || process.cwd()));
}

/** @param given Arguments of `ziti router`. Resolves when the command has ended. */
export async function runRouter(given: readonly string[]): Promise<void> {
  process.argv = [process.execPath, PROGRAM, ...ownArguments(given)];
  await runProgram(routerProgram());
}

function zitiProgram(home: string): Command {
  const program = new Command('ziti')
    .description("the reference's commands for a router, answered for edgeweave-router")
    .version(PROGRAM_VERSION, '-V, --version', 'print the version');
  program.addCommand(agentCommand(home));
  program.command('router').description('run, enroll and query the router, as edgeweave-router does').helpOption(false);
  program
    .command('version')
    .description('print the version')
    .option('-v, --verbose', 'the same')
    .action(() => print(PROGRAM_VERSION));
  return program;
}
