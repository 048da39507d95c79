// The command line of the router: each command is a file in this folder.

import { Command } from 'commander';
import { completionCommand } from '#lib/commands/completion.ts';
import { addGroups } from '#lib/commands/help.ts';
import { commandName } from '#lib/commands/name.ts';
import { print } from '#lib/commands/print.ts';
import { PROGRAM_VERSION } from '../version.ts';
import { adoptCommand } from './adopt.ts';
import { configCommand } from './config.ts';
import { decommissionCommand } from './decommission.ts';
import { drainCommand } from './drain.ts';
import { enrollCommand } from './enroll.ts';
import { healthCommand } from './health.ts';
import { inspectCommand } from './inspect.ts';
import { logLevelCommand } from './log-level.ts';
import { memoryCommand } from './memory.ts';
import { profileCommand } from './profile.ts';
import { runCommand } from './run.ts';
import { whyCommand } from './why.ts';

export function routerProgram(): Command {
  const program = new Command(commandName('router'))
    .description('router of an OpenZiti overlay network')
    .version(PROGRAM_VERSION, '-V, --version', 'print the version');
  addGroups(program, {
    'Set up and run:': [configCommand(), enrollCommand(), runCommand(), adoptCommand()],
    'Look at a running router:': [healthCommand(), inspectCommand(), whyCommand(), memoryCommand(), profileCommand()],
    'Control a running router:': [logLevelCommand(), drainCommand(), decommissionCommand()],
    'Further commands:': [completionCommand(program, 'edgeweave-router')],
  });
  program
    .command('version')
    .description('print the version')
    .action(() => print(PROGRAM_VERSION));
  return program;
}
