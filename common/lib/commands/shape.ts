// The structure of a command line, from its definition: for shell completion and the manual.

import type { Command } from 'commander';

export interface CommandShape {
  /** Command names below the program; empty for the program itself. */
  readonly path: readonly string[];
  readonly description: string;
  readonly commands: readonly CommandShape[];
  readonly options: readonly OptionShape[];
  readonly arguments: readonly ArgumentShape[];
  /** The text of `--help` after its lists: rules and examples. */
  readonly notes: string;
}

export interface ValueShape {
  /** Allowed values, if they are a list. */
  readonly choices: readonly string[];
  readonly isFile: boolean;
}

export interface OptionShape {
  /** `-V`, `--version`. */
  readonly flags: readonly string[];
  readonly description: string;
  /** Undefined for an option without a value. */
  readonly value: (ValueShape & { readonly name: string }) | undefined;
  readonly default: string | undefined;
}

export interface ArgumentShape extends ValueShape {
  /** Notation of the usage line: `<file>`, `[name]`, `<file...>`. */
  readonly name: string;
  readonly description: string;
}

const FILE = /^(?:file|folder|directory|where)(?:\.\.\.)?$/;
const HELP: OptionShape = {
  flags: ['-h', '--help'],
  description: 'display help for command',
  value: undefined,
  default: undefined,
};

export function shapeOf(command: Command, path: readonly string[] = []): CommandShape {
  return {
    path,
    description: command.description(),
    commands: command.commands.map((each) => shapeOf(each, [...path, each.name()])),
    options: [...command.options.filter(({ hidden }) => !hidden).map(optionShape), HELP],
    arguments: command.registeredArguments.map((argument) => {
      const { required, variadic, description, argChoices: choices = [] } = argument;
      const text = `${argument.name()}${variadic ? '...' : ''}`;
      return { name: required ? `<${text}>` : `[${text}]`, description, choices, isFile: FILE.test(text) };
    }),
    notes: notesOf(command),
  };
}

/** All commands, the program first. */
export function* eachCommand(shape: CommandShape): Generator<CommandShape> {
  yield shape;
  for (const command of shape.commands) yield* eachCommand(command);
}

function optionShape(option: Command['options'][number]): OptionShape {
  const { short, long, flags, description, argChoices: choices = [], required, optional } = option;
  const { defaultValue, defaultValueDescription } = option;
  const [, name = 'value'] = /[<[]([^>\]]+)[>\]]/.exec(flags) ?? [];
  const isPrinted = defaultValue !== undefined && defaultValue !== false && String(defaultValue) !== '';
  return {
    flags: [short, long].filter((flag) => flag !== undefined),
    description,
    value: required || optional ? { name, choices, isFile: FILE.test(name) } : undefined,
    default: isPrinted ? (defaultValueDescription ?? String(defaultValue)) : undefined,
  };
}

/** Commander exposes the additional help texts only when it writes a help page. */
function notesOf(command: Command): string {
  let page = '';
  const before = command.configureOutput();
  command.configureOutput({ writeOut: (text) => (page += text) });
  command.outputHelp();
  command.configureOutput(before);
  return page.slice(command.helpInformation().length).trim();
}
