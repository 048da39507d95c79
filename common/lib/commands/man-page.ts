// Generates a manual page from the definition of a command line, in the language of man(7).

import { type ArgumentShape, type CommandShape, eachCommand, type OptionShape } from './shape.ts';

export interface ManualOptions {
  readonly name: string;
  readonly version: string;
  /** Release date, for example `2026-11-22`. */
  readonly date: string;
  /** Further sections by title, as paragraphs. */
  readonly sections: Readonly<Record<string, readonly string[]>>;
}

/** Section 1 of the manual: all commands of a program on one page. */
export function manPage(program: CommandShape, { name, version, date, sections }: ManualOptions): string {
  const lines = [
    `.TH ${roff(name).toUpperCase()} 1 "${date}" "${roff(`${name} ${version}`)}" "User Commands"`,
    '.nh',
    '.SH NAME',
    `${roff(name)} \\- ${roff(program.description)}`,
    '.SH SYNOPSIS',
    `.B ${roff(name)}`,
    '.I command',
    '[options]',
    '.SH OPTIONS',
    ...program.options.flatMap(option),
    '.SH COMMANDS',
    ...[...eachCommand(program)].slice(1).flatMap((command) => section(name, command)),
    ...Object.entries(sections).flatMap(([title, paragraphs]) => [
      `.SH ${roff(title)}`,
      ...paragraphs.flatMap((text, index) => [...(index === 0 ? [] : ['.PP']), roff(text)]),
    ]),
    '.SH EXIT STATUS',
    '.TP',
    '.B 0',
    'Success.',
    '.TP',
    '.B 1',
    'The work failed; standard error has the reason.',
    '.TP',
    '.B 2',
    'The command line was invalid.',
  ];
  return `${lines.join('\n')}\n`;
}

function section(name: string, command: CommandShape): string[] {
  const { path, description, arguments: given, options, notes, commands } = command;
  if (commands.length > 0) return [];
  return [
    `.SS ${roff([name, ...path, ...given.map((each) => each.name)].join(' '))}`,
    `${roff(sentence(description))}`,
    ...given.flatMap(argument),
    ...options.filter(({ flags }) => !flags.includes('--help')).flatMap(option),
    ...(notes === '' ? [] : ['.PP', '.nf', ...notes.split('\n').map(roff), '.fi']),
  ];
}

function argument({ name, description, choices }: ArgumentShape): string[] {
  return ['.TP', `.I ${roff(name)}`, roff(sentence(description + listed(choices)))];
}

function option({ flags, description, value, default: usual }: OptionShape): string[] {
  const names = flags.map((flag) => `\\fB${roff(flag)}\\fR`).join(', ');
  const argument = value ? ` \\fI${roff(value.name)}\\fR` : '';
  return ['.TP', `${names}${argument}`, roff(sentence(description + listed(value?.choices ?? [], usual)))];
}

function listed(choices: readonly string[], usual?: string): string {
  const parts = [choices.join(', '), usual === undefined ? '' : `default: ${usual}`].filter((part) => part !== '');
  return parts.length === 0 ? '' : ` (${parts.join('; ')})`;
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`;
}

/** Escapes a text: a backslash, a hyphen, and a leading full stop or apostrophe have special meanings. */
function roff(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('…', '...')
    .replaceAll(/^(?=[.'])/gm, '\\&');
}
