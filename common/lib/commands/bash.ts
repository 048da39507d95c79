// Completion for bash: one function that determines the command from its words, and then completes the next word.

import { quoted, spaced } from './script-text.ts';
import { type CommandShape, eachCommand, type ValueShape } from './shape.ts';

export function bashCompletion(name: string, program: CommandShape): string {
  const call = `_${name.replaceAll('-', '_')}`;
  const commands = [...eachCommand(program)];
  const paths = commands.slice(1).map(({ path }) => quoted(spaced(path)));
  return `# Completion of ${name} for bash.
${call}() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD - 1]} path= index
  local words= options= files=
  for ((index = 1; index < COMP_CWORD; index++)); do
    case "$path \${COMP_WORDS[index]}" in
      ${paths.join(' | ')}) path="$path \${COMP_WORDS[index]}" ;;
    esac
  done
  case "$path $previous" in
${commands.flatMap(valueCases).join('\n')}
    *)
      case "$path" in
${commands.map(commandCase).join('\n')}
      esac
      ;;
  esac
  if [[ $current == -* ]]; then words=$options; files=; fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  if [[ $files && \${#COMPREPLY[@]} -eq 0 ]]; then compopt -o default; fi
}
complete -F ${call} ${name}
`;
}

/** Cases for the value of each option. */
function valueCases({ path, options }: CommandShape): string[] {
  return options.flatMap(({ flags, value }) => {
    if (!value) return [];
    const patterns = flags.map((flag) => quoted(`${spaced(path)} ${flag}`)).join(' | ');
    return `    ${patterns}) ${assignments(value) || ':'} ;;`;
  });
}

/** The case for options, commands and arguments of a command. */
function commandCase({ path, commands, options, arguments: given }: CommandShape): string {
  const words = [...commands.map((each) => each.path.at(-1) ?? ''), ...given.flatMap(({ choices }) => choices)];
  const flags = options.flatMap((option) => option.flags);
  const values = assignments({ choices: words, isFile: given.some(({ isFile }) => isFile) });
  return `        ${quoted(spaced(path))}) options=${quoted(flags.join(' '))} ${values} ;;`;
}

function assignments({ choices, isFile }: ValueShape): string {
  return [...(choices.length > 0 ? [`words=${quoted(choices.join(' '))}`] : []), ...(isFile ? ['files=1'] : [])].join(
    ' ',
  );
}
