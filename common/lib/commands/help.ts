// The help of a command line: short enough to be read. A mistake is answered in a sentence that names the page with the
// whole list, because the list itself would push the mistake off the screen.

import type { Command, Help } from 'commander';

/** Sets it up for a program and all its commands; `path` are the names above `command`. */
export function setHelp(command: Command, path: readonly string[] = []): void {
  const names = [...path, command.name()];
  const content = command.commands.length > 0 ? 'its commands' : 'its arguments and options';
  command.showHelpAfterError(`\`${names.join(' ')} --help\` lists ${content}.`);
  command.configureHelp({ subcommandTerm });
  for (const each of command.commands) setHelp(each, names);
}

/** Adds commands under headings; further commands, and `help`, join the last one. */
export function addGroups(program: Command, groups: Readonly<Record<string, readonly Command[]>>): void {
  for (const [heading, commands] of Object.entries(groups)) {
    program.commandsGroup(heading);
    for (const command of commands) program.addCommand(command);
  }
  program.helpCommand('help [command]', 'display help for command');
}

/** Without `[options]`, which all have: the descriptions get the room. */
const subcommandTerm: Help['subcommandTerm'] = (command) => command.name() + argumentsOf(command);

function argumentsOf({ registeredArguments }: Command): string {
  return registeredArguments
    .map((argument) => {
      const name = `${argument.name()}${argument.variadic ? '...' : ''}`;
      return argument.required ? ` <${name}>` : ` [${name}]`;
    })
    .join('');
}
