// Completion for fish: one line for each command, option and argument, with its command.

import { spaced } from './script-text.ts';
import { type CommandShape, eachCommand, type ValueShape } from './shape.ts';

export function fishCompletion(name: string, program: CommandShape): string {
  const is = `__${name.replaceAll('-', '_')}_is`;
  const commands = [...eachCommand(program)];
  const paths = commands.slice(1).map(({ path }) => quoted(spaced(path)));
  return `# Completion of ${name} for fish.

function ${is} --description 'Whether the command so far is this one'
    set --local path ''
    for token in (commandline -opc)[2..]
        switch "$path $token"
            case ${paths.join(' ')}
                set path "$path $token"
        end
    end
    test "$path" = "$argv[1]"
end

complete -c ${name} -f
${commands.flatMap((command) => lines(`complete -c ${name} -n ${quoted(`${is} ${quoted(spaced(command.path))}`)}`, command)).join('\n')}
`;
}

function lines(start: string, { commands, options, arguments: given }: CommandShape): string[] {
  return [
    ...commands.map((each) => `${start} -a ${quoted(each.path.at(-1) ?? '')} -d ${quoted(each.description)}`),
    ...options.map(({ flags, description, value }) => {
      const names = flags.map((flag) => (flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`));
      return [
        start,
        ...names,
        ...(value ? [value.isFile ? '-r' : '-x', ...values(value)] : []),
        '-d',
        quoted(description),
      ].join(' ');
    }),
    ...given.flatMap((argument) => {
      const [first] = values(argument);
      return first === undefined ? [] : [`${start} ${values(argument).join(' ')}`];
    }),
  ];
}

function values({ choices, isFile }: ValueShape): string[] {
  if (choices.length > 0) return ['-a', quoted(choices.join(' '))];
  return isFile ? ['-F'] : [];
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
