// `completion SHELL`: prints a completion script for the commands, options and values of a program.

import { Argument, Command } from 'commander';
import { bashCompletion } from './bash.ts';
import { fishCompletion } from './fish.ts';
import { shapeOf } from './shape.ts';
import { zshCompletion } from './zsh.ts';

const SHELLS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion } as const;

/** @param name Name of the installed program. */
export function completionCommand(program: Command, name: string): Command {
  return new Command('completion')
    .description('print a script for the completion of commands, options and values')
    .addArgument(new Argument('<shell>', 'shell').choices(Object.keys(SHELLS)))
    .addHelpText(
      'after',
      `
Examples:
  bash  ${name} completion bash > /etc/bash_completion.d/${name}
  zsh   ${name} completion zsh > "\${fpath[1]}/_${name}"
  fish  ${name} completion fish > ~/.config/fish/completions/${name}.fish`,
    )
    .action((shell: keyof typeof SHELLS) => {
      process.stdout.write(SHELLS[shell](name, shapeOf(program)));
    });
}
