// The command line of the simulator.

import { Command, CommanderError } from 'commander';
import { tolerateClosedOutput } from '#lib/closed-output.ts';
import { commandName } from '#lib/command-name.ts';
import packageJson from '../package.json' with { type: 'json' };
import { operationsCommand } from './commands/operations.ts';
import { startCommand } from './commands/start.ts';

/** reference: the exit codes of both command lines. */
const WRONG_USE = 2;

const program = new Command(commandName('sim'))
  .description('controller simulator for OpenZiti overlay networks')
  .version(packageJson.version, '-V, --version', 'print the version')
  .exitOverride()
  .showHelpAfterError();
program.addCommand(startCommand().exitOverride());
program.addCommand(operationsCommand().exitOverride());

tolerateClosedOutput();
try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof CommanderError)) throw error;
  process.exitCode = error.exitCode === 0 ? 0 : WRONG_USE;
}
