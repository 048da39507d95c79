// The command line of the router. Thin: each command is a file in commands/.

import { Command, CommanderError } from 'commander';
import { tolerateClosedOutput } from '#lib/closed-output.ts';
import { commandName } from '#lib/command-name.ts';
import { configCommand } from './commands/config.ts';
import { drainCommand } from './commands/drain.ts';
import { enrollCommand } from './commands/enroll.ts';
import { Exit, print } from './commands/exit.ts';
import { healthCommand } from './commands/health.ts';
import { inspectCommand } from './commands/inspect.ts';
import { logLevelCommand } from './commands/log-level.ts';
import { runCommand } from './commands/run.ts';
import { PROGRAM_VERSION } from './version.ts';

const program = new Command(commandName('router'))
  .description('router of an OpenZiti overlay network')
  .version(PROGRAM_VERSION, '-V, --version', 'print the version')
  .exitOverride()
  .showHelpAfterError();
for (const command of [
  runCommand(),
  enrollCommand(),
  configCommand(),
  healthCommand(),
  inspectCommand(),
  drainCommand(),
  logLevelCommand(),
])
  program.addCommand(command);
program
  .command('version')
  .description('print the version')
  .action(() => print(PROGRAM_VERSION));
useExitOverride(program);

tolerateClosedOutput();
try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof CommanderError)) throw error;
  process.exitCode = error.exitCode === 0 ? Exit.Done : Exit.WrongUse;
}

/** Commander's own exit code for wrong use is 1; ours is 2. */
function useExitOverride(command: Command): void {
  command.exitOverride();
  for (const each of command.commands) useExitOverride(each);
}
