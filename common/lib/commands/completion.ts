// `completion SHELL`: a script that teaches a shell the commands, options and values of a program.

import { Argument, Command } from 'commander';
import { bashCompletion } from './bash.ts';
import { fishCompletion } from './fish.ts';
import { shapeOf } from './shape.ts';
import { zshCompletion } from './zsh.ts';

const SHELLS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion } as const;

/** `name` is what the program is called when it is installed. */
export function completionCommand(program: Command, name: string): Command {
  return new Command('completion')
    .description('print a script that completes commands, options and values in a shell')
    .addArgument(new Argument('<shell>', 'which shell').choices(Object.keys(SHELLS)))
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
