// Completion for zsh: a function for each command, with its descriptions.

import { quoted } from './script-text.ts';
import { type CommandShape, eachCommand, type OptionShape, type ValueShape } from './shape.ts';

export function zshCompletion(name: string, program: CommandShape): string {
  const functions = [...eachCommand(program)].map((command) => commandFunction(name, command));
  return `#compdef ${name}
# Completion of ${name} for zsh.

${functions.join('\n\n')}

if [ "$funcstack[1]" = "_${name}" ]; then
  _${name} "$@"
else
  compdef _${name} ${name}
fi
`;
}

function commandFunction(name: string, { path, commands, options, arguments: given }: CommandShape): string {
  const specs = options.flatMap(optionSpecs);
  if (commands.length === 0) {
    const places = given.map((argument) => {
      const kind = argument.name.includes('...') ? '*' : argument.name.startsWith('[') ? ':' : '';
      return `${kind}:${escaped(argument.description)}:${action(argument)}`;
    });
    return `${functionName(name, path)}() {
  _arguments -s ${[...specs, ...places].map(quoted).join(' \\\n    ')}
}`;
  }
  const names = commands.map((each) => quoted(`${each.path.at(-1)}:${escaped(each.description)}`));
  const calls = commands.map((each) => `        ${each.path.at(-1)}) ${functionName(name, each.path)} ;;`);
  return `${functionName(name, path)}() {
  local -a commands=(
    ${names.join('\n    ')}
  )
  local state line
  _arguments -s -C ${[...specs, '1: :->command', '*:: :->rest'].map(quoted).join(' \\\n    ')}
  case $state in
    command) _describe command commands ;;
    rest)
      case $words[1] in
${calls.join('\n')}
      esac
      ;;
  esac
}`;
}

/** One specification for each spelling of the option. */
function optionSpecs({ flags, description, value }: OptionShape): string[] {
  const exclusion = flags.length > 1 ? `(${flags.join(' ')})` : '';
  const argument = value ? `:${escaped(value.name)}:${action(value)}` : '';
  return flags.map((flag) => `${exclusion}${flag}[${escaped(description)}]${argument}`);
}

function action({ choices, isFile }: ValueShape): string {
  if (choices.length > 0) return `(${choices.join(' ')})`;
  return isFile ? '_files' : ' ';
}

function functionName(name: string, path: readonly string[]): string {
  return ['', name, ...path].join('_').replace(`_${name}_`, `_${name}__`);
}

/** Escapes brackets and colons, which have a meaning in a specification. */
function escaped(text: string): string {
  return text.replaceAll(/[[\]:\\]/g, '\\$&');
}
