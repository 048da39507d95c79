// The commands that send one request to the lab, as schemas/lab describes them: fields of the request are arguments and
// options. They print the line of the description, or what lab-outputs.ts makes of the answer.

import { Command } from 'commander';
import { examples } from '#lib/commands/name.ts';
import { print } from '#lib/commands/print.ts';
import { requestFields } from '#schemas/lab/fields.ts';
import type { LabCommand, LabFunction, LabGroup } from '#schemas/lab/function.ts';
import { LAB_FUNCTIONS } from '#schemas/lab/functions.ts';
import { optionOf } from './fields.ts';
import { connected, withLab } from './lab.ts';
import type { Connection, LabClient } from './lab-client.ts';
import { type Fields, INPUTS, OUTPUTS } from './lab-outputs.ts';

/** The commands of a group of functions, below the program. */
export function commandsOf({ functions, commandGroups = {}, commandOrder = [] }: LabGroup): Command[] {
  const parents = Object.entries(commandGroups).map(([name, { text, order = [], examples: lines }]) => {
    const own = commandsOfFunctions(LAB_FUNCTIONS, (command) => command.name.startsWith(`${name} `));
    const parent = new Command(name).description(text).addHelpText('after', examples('sim', ...lines));
    for (const each of inOrder(own, order)) parent.addCommand(each);
    return parent;
  });
  const own = commandsOfFunctions(functions, ({ name }) => !name.includes(' '));
  return inOrder([...parents, ...own], commandOrder);
}

function commandsOfFunctions(functions: readonly LabFunction[], selects: (command: LabCommand) => boolean): Command[] {
  return functions.flatMap((each) => (each.commands ?? []).filter(selects).map((command) => commandOf(each, command)));
}

/** Those that `order` names come first. */
function inOrder(commands: readonly Command[], order: readonly string[]): Command[] {
  const first = order.flatMap((name) => commands.filter((each) => each.name() === name));
  return [...first, ...commands.filter((each) => !first.includes(each))];
}

function commandOf(labFunction: LabFunction, described: LabCommand): Command {
  const { name, text, arguments: meanings = {}, options = {}, hasFields, examples: lines } = described;
  const command = new Command(name.split(' ').at(-1) ?? '');
  command.description(text).addHelpText('after', examples('sim', ...lines));
  const fields = requestFields(labFunction);
  const names = Object.entries(meanings).map(([key, meaning]) => {
    const [field = '', shown = field] = key.split(':');
    command.argument(`<${shown}>`, meaning);
    return field;
  });
  const further = hasFields ? Object.keys(fields).filter((each) => !names.includes(each)) : [];
  const attributes = new Map<string, string>();
  for (const field of new Set([...Object.keys(options), ...further])) {
    const option = optionOf(field, fields[field] ?? {}, options[field]);
    command.addOption(option);
    attributes.set(option.attributeName(), field);
  }
  return connected(command).action(() => {
    const { ready, url, ca, username, password, ...given } = command.opts<Connection & Fields>();
    for (const [attribute, field] of attributes)
      if (options[field]?.required !== undefined && given[attribute] === undefined)
        command.error(`error: --${attribute} ${options[field].required} is missing`);
    // The order is that of the user, in which the simulator shows the fields again.
    const input = {
      ...described.fixed,
      ...Object.fromEntries(names.map((field, index) => [field, command.args[index]])),
      ...Object.fromEntries(Object.entries(given).map(([attribute, value]) => [attributes.get(attribute), value])),
    };
    return withLab({ ready, url, ca, username, password }, (client) => run(client, labFunction, described, input));
  });
}

async function run(client: LabClient, labFunction: LabFunction, described: LabCommand, input: Fields): Promise<void> {
  const { name, prints } = described;
  const fields = requestFields(labFunction);
  const asked = Object.fromEntries(Object.entries(input).filter(([field]) => field in fields));
  const answer = await client.send(labFunction, INPUTS[name]?.(asked) ?? asked);
  const line = () => [
    prints === undefined ? JSON.stringify(answer) : filled(prints, { ...input, ...(answer as object) }),
  ];
  for (const each of (OUTPUTS[name] ?? line)(answer as never, input)) print(each);
}

function filled(line: string, fields: Fields): string {
  return line.replaceAll(/\{(\w+)\}/g, (_, field: string) => String(fields[field]));
}
